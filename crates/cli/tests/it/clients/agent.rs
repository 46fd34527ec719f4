//! The two agents whose hosts have hooks, in the words of a test: the same acts for both.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    desk::{CLAUDE, CODEX, Desk, FILESYSTEM_SERVER, PROGRAM, client},
    model::Model,
};

/// An agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    ClaudeCode,
    Codex,
}

impl Agent {
    /// Its program, and the MCP server for files; nothing, and a loud note, if they are not installed.
    pub(crate) fn installed(self, test: &str) -> Option<(PathBuf, PathBuf)> {
        let path = match self {
            Self::ClaudeCode => CLAUDE,
            Self::Codex => CODEX,
        };
        client(test, path).zip(client(test, FILESYSTEM_SERVER))
    }

    /// Runs a command line.
    pub(crate) fn shell(self, line: &str) -> Value {
        match self {
            Self::ClaudeCode => json!({"tool": "Bash", "input": {"command": line}}),
            Self::Codex => json!({"tool": "exec_command", "input": {"cmd": line}}),
        }
    }

    /// Makes a file that holds `text`.
    pub(crate) fn write(self, path: &Path) -> Value {
        match self {
            Self::ClaudeCode => json!({"tool": "Write", "input": {"file_path": path, "content": "text"}}),
            Self::Codex => self.shell(&format!(
                "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {}\n+text\n*** End Patch\nEOF",
                path.display()
            )),
        }
    }

    /// Makes a file through the MCP server.
    pub(crate) fn mcp_write(self, path: &Path) -> Value {
        let input = json!({"path": path, "content": "text"});
        match self {
            Self::ClaudeCode => json!({"tool": "mcp__fs__write_file", "input": input}),
            Self::Codex => json!({"tool": "write_file", "namespace": "mcp__fs", "input": input}),
        }
    }

    /// Has a sub-agent take these steps.
    pub(crate) fn spawn(self, steps: &Value) -> Value {
        let prompt = format!("STEPS:{steps}");
        match self {
            Self::ClaudeCode => json!({"tool": "Agent", "input": {"description": "part", "prompt": prompt,
                "subagent_type": "general-purpose", "run_in_background": false}}),
            Self::Codex => {
                json!({"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": prompt}})
            }
        }
    }

    /// Its settings, with this model and the MCP server for files, and no hooks.
    pub(crate) fn configure(self, desk: &Desk, server: &Path, model: &Model) {
        match self {
            Self::ClaudeCode => {
                let start = json!({"command": "node", "args": [server, desk.path("work")]});
                desk.write("home/mcp.json", &json!({"mcpServers": {"fs": start}}).to_string());
            }
            Self::Codex => desk.configure_codex(model, &desk.file_server(server)),
        }
    }

    /// Puts the hooks before its tools.
    pub(crate) fn govern(self, desk: &Desk, program: &Path) {
        match self {
            Self::ClaudeCode => desk.countersign(&["install", "claude-code"]),
            Self::Codex => desk.countersign(&["install", "codex", "--bin", program.to_str().unwrap()]),
        };
    }

    /// Puts another command in the place of the hook, which the host runs all the same.
    pub(crate) fn hook_instead(self, desk: &Desk, command: &str) {
        let (place, name) = match self {
            Self::ClaudeCode => ("work/.claude/settings.local.json", "claude-code"),
            Self::Codex => ("home/codex/hooks.json", "codex"),
        };
        let (settings, ours) = (desk.read(place).unwrap(), format!("{PROGRAM} hook {name}"));
        assert!(settings.contains(&ours), "{settings}");
        desk.write(place, &settings.replace(&ours, command));
    }

    /// Has it take these steps.
    pub(crate) fn run(self, desk: &Desk, program: &Path, model: &Model, steps: &Value) {
        match self {
            Self::ClaudeCode => {
                let servers = desk.path("home/mcp.json");
                let more = ["--mcp-config", servers.to_str().unwrap(), "--strict-mcp-config"];
                desk.claude(program, model, steps, &more)
            }
            // Hooks that a test has put in the place of ours are trusted too.
            Self::Codex => desk.codex(program, model, steps, &["--dangerously-bypass-hook-trust"]),
        };
    }
}
