#!/usr/bin/env python3
"""Runs every command of the scan's benchmark in turn and prints walls, processor times, memory and ratios.

    bench/scan/run.py TREE --program target/release/countersign --peer bench/scan/target/release/bench-scan --rg rg

One discarded round, then N rounds of all commands one after the other (warm cache); standard output goes to a real file.
wall and cpu are the smallest of the rounds, rss is the largest. Ratios are against ripgrep in the same run.
"""
import argparse, os, pathlib, subprocess, sys, tempfile, time

TF = ['0.0.0.0/0', '::/0', '"Action": "*"', 'actions = ["*"]', 'acl = "public-read"', '"public-read-write"', 'publicly_accessible = true',
      'skip_final_snapshot = true', 'encrypted = false', 'storage_encrypted = false', 'enable_key_rotation = false', 'force_destroy = true',
      'aws_secret_access_key', 'aws_access_key_id', 'sslmode=disable', 'http_tokens = "optional"', 'protocol = "-1"',
      'deletion_protection = false', 'block_public_acls = false', 'BEGIN RSA PRIVATE KEY', 'BEGIN OPENSSH PRIVATE KEY']
YAML = ['privileged: true', 'hostNetwork: true', 'hostPID: true', 'hostIPC: true', 'hostPath:', 'allowPrivilegeEscalation: true',
        'runAsUser: 0', ':latest', 'cluster-admin', 'docker.sock', 'readOnlyRootFilesystem: false', 'automountServiceAccountToken: true',
        '- SYS_ADMIN', '- NET_ADMIN', 'type: NodePort', 'insecure-skip-tls-verify', '--anonymous-auth=true', 'system:masters',
        'verbs: ["*"]', 'allowedCapabilities']
GO = ['InsecureSkipVerify: true', 'math/rand', 'crypto/md5', 'crypto/sha1', 'os/exec', 'unsafe.Pointer', 'http.ListenAndServe(',
      'panic("not implemented")', 'TO' 'DO(security)', 'ioutil.ReadAll', 'exec.Command("sh"', 'exec.Command("bash"', 'tls.VersionTLS10',
      'log.Fatal(', '//nolint', 'reflect.SliceHeader', 'syscall.Exec(', 'net.Listen("tcp", ":', 'go:linkname']
GROUPS = [("TF", ["**/*.tf"], TF, 6), ("K8S", ["**/*.yaml", "**/*.yml"], YAML, 7), ("GO", ["**/*.go"], GO, 7)]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def write_rules(folder, groups):
    folder.mkdir(parents=True, exist_ok=True)
    rows, patterns = [], []
    for name, globs, texts, count in groups:
        patterns += texts
        for number in range(count):
            mine = texts[number::count]
            if mine:
                rows.append(f"  - id: {name}-{number}\n    title: {name} {number}\n    enforcement: {{mode: fail}}\n    match:\n"
                            f"      files: [{', '.join(map(quoted, globs))}]\n      forbidden_patterns:\n"
                            + "".join(f"        - {quoted(text)}\n" for text in mine))
    (folder / "boundaries.yml").write_text("boundaries:\n" + "".join(rows))
    patterns = sorted(set(patterns))
    (folder / "patterns.txt").write_text("\n".join(patterns) + "\n")
    return len(rows), len(patterns)


def measure(command, out, env):
    # Memory is asked of time(1), which is small: what a child of this program has used starts with this program's own.
    peak = str(out) + ".rss"
    with open(out, "wb") as file:
        start = time.perf_counter()
        child = subprocess.Popen(["/usr/bin/time", "-q", "-o", peak, "-f", "%M", *command], stdout=file, stderr=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{command} ended with {child.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, int(pathlib.Path(peak).read_text().split()[-1])


def compare(title, commands, rounds, scratch):
    """commands: name -> argument list; the first is what the ratios are against."""
    print(f"\n## {title} ({rounds} rounds)")
    env = {**os.environ, "LC_ALL": "C"}
    results = {name: [] for name in commands}
    for round_number in range(rounds + 1):
        for name, command in commands.items():
            result = measure(command, scratch / f"out-{name.replace('/', '_')}", env)
            if round_number:
                results[name].append(result)
    rows = {name: (min(r[0] for r in rs), min(r[1] for r in rs), max(r[2] for r in rs)) for name, rs in results.items()}
    wall_ref, cpu_ref, _ = next(iter(rows.values()))
    print(f"{'command':<28} {'wall s':>8} {'ratio':>6} {'cpu s':>8} {'ratio':>6} {'rss MB':>7}")
    for name, (wall, cpu, rss) in rows.items():
        print(f"{name:<28} {wall:8.4f} {wall / wall_ref:6.2f} {cpu:8.4f} {cpu / max(cpu_ref, 1e-9):6.2f} {rss / 1024:7.1f}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--program", default="target/release/countersign")
    parser.add_argument("--peer", default="bench/scan/target/release/bench-scan")
    parser.add_argument("--rg", default="rg")
    parser.add_argument("--gitleaks", help="a gitleaks binary, compared if given")
    parser.add_argument("--semgrep", help="a semgrep program, compared if given")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default=str(os.cpu_count()))
    parser.add_argument("--only", help="run only sections whose title contains this")
    a = parser.parse_args()
    tree, program = str(a.tree.resolve()), str(pathlib.Path(a.program).resolve())
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="bench-scan-"))
    wanted = lambda title: not a.only or a.only in title
    globs = ["-g", "*.tf", "-g", "*.yaml", "-g", "*.yml", "-g", "*.go", "-g", "!/.git"]
    rg = lambda patterns, *more: [a.rg, "-F", "-f", str(patterns), "-ob", "--no-ignore", "--hidden", "-j", a.threads, *globs, *more, tree]
    scan = lambda rules, target=tree: [program, "scan", target, "--rules", str(rules), "--threads", a.threads]

    rules, patterns = write_rules(scratch / "rules", GROUPS)
    if wanted("tree"):
        compare(f"tree: {patterns} patterns in {rules} rules", {
            "ripgrep": rg(scratch / "rules/patterns.txt"),
            "countersign": scan(scratch / "rules"),
            "walk and read only": [a.peer, "read", tree, a.threads, "tf", "yaml", "yml", "go"],
            "ripgrep --sort path": rg(scratch / "rules/patterns.txt", "--sort", "path"),
        }, a.rounds, scratch)
    for count in (1000, 5000):
        if wanted("many patterns"):
            random = __import__("random").Random(7)
            letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:= "
            # First letters and lengths as words have them; nearly none of them is in the tree.
            texts = ["".join(random.choice(letters[:52] if n == 0 else letters[:-1]) for n in range(random.randint(6, 24))) for _ in range(count)]
            write_rules(scratch / f"many-{count}", [("M", ["**/*.tf", "**/*.yaml", "**/*.yml", "**/*.go"], texts, 20)])
            compare(f"many patterns: {count}", {
                "ripgrep": rg(scratch / f"many-{count}/patterns.txt"),
                "countersign": scan(scratch / f"many-{count}"),
            }, max(3, a.rounds // 2), scratch)
    if wanted("violations"):
        texts = ["e", "a", "t", "i", "n", "o", "r", "s", "{", "("]
        write_rules(scratch / "common", [("C", ["**/*.go", "**/*.yaml", "**/*.yml"], texts, 1)])
        compare("violations in nearly every file", {"countersign": scan(scratch / "common")}, 3, scratch)
        verdict = (scratch / "out-countersign").read_text()
        print("violations:", verdict.count('"rule_id"'))
    if wanted("one file"):
        big = scratch / "big"
        big.mkdir()
        line = b"resource \"aws_s3_bucket\" \"reports\" { bucket = \"example\" } # filler of a line of usual length\n"
        with open(big / "big.tf", "wb") as file:
            block = line * (1024 * 1024 // len(line))
            while file.tell() < 1 << 30:
                file.write(block)
            file.write(b"cidr = \"0.0.0.0/0\"\n")
        target = str(big)
        compare("one file of 1 GiB", {
            "ripgrep --no-mmap": [a.rg, "-F", "-f", str(scratch / "rules/patterns.txt"), "-ob", "--no-mmap", "-j", a.threads, target],
            "countersign": scan(scratch / "rules", target),
        }, 3, scratch)
        (big / "big.tf").unlink()
    if wanted("globs"):
        listed = subprocess.run(["git", "-C", tree, "ls-files"], capture_output=True, text=True, check=True).stdout
        (scratch / "paths").write_text(listed)
        print("\n## globs: 500 path-scoped rules (both answers compared)")
        print(subprocess.run([a.peer, "globs", str(scratch / "paths"), "500"], capture_output=True, text=True, check=True).stdout.strip())
    if wanted("diff"):
        git = ["git", "-C", tree]
        compare("diff mode, 50 commits", {
            "git diff --name-only": [*git, "diff", "--name-only", "-z", "HEAD~50...HEAD"],
            "countersign": [*scan(scratch / "rules"), "--diff-base", "HEAD~50"],
        }, a.rounds, scratch)
    peers = {}
    if a.gitleaks and wanted("gitleaks"):
        config = ["title = \"bench\""]
        for number, text in enumerate(sorted(set(TF + YAML + GO))):
            import re
            config.append(f"[[rules]]\nid = \"r{number}\"\nregex = '''{re.escape(text)}'''\nkeywords = [{text.lower()!r}]".replace("keywords = ['", 'keywords = ["').replace("']", '"]') if '"' not in text and "'" not in text else f"[[rules]]\nid = \"r{number}\"\nregex = '''{re.escape(text)}'''")
        (scratch / "gitleaks.toml").write_text("\n".join(config))
        peers["gitleaks"] = [a.gitleaks, "dir", tree, "-c", str(scratch / "gitleaks.toml"), "--no-banner", "--exit-code", "0"]
    if a.semgrep and wanted("semgrep"):
        import json, re
        extensions = {"TF": ["*.tf"], "K8S": ["*.yaml", "*.yml"], "GO": ["*.go"]}
        rows = [{"id": f"{name}-{n}", "languages": ["regex"], "severity": "ERROR", "message": "m", "paths": {"include": extensions[name]},
                 "pattern-either": [{"pattern-regex": re.escape(text)} for text in texts[n::count]]}
                for name, _, texts, count in GROUPS for n in range(count) if texts[n::count]]
        (scratch / "semgrep.json").write_text(json.dumps({"rules": rows}))
        peers["semgrep regex"] = [a.semgrep, "scan", "--metrics=off", "--disable-version-check", "--no-git-ignore", "-j", a.threads, "-q",
                                  "--config", str(scratch / "semgrep.json"), "--max-target-bytes", "0", "--json", tree]
    if peers:
        compare("other tools", {"countersign": scan(scratch / "rules"), **peers}, 1, scratch)


if __name__ == "__main__":
    main()
