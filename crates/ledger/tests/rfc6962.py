"""Roots and proofs of RFC 6962, section 2.1, written from its text alone: the second opinion on `merkle.rs`.

Prints one line for each tree of 0 to 40 entries, where entry i is the decimal text of i:
size, root, SHA-256 over all inclusion proofs in order of entries, SHA-256 over all consistency proofs in order of
old sizes 1 to size. The output is kept in `rfc6962.txt`: `python3 rfc6962.py > rfc6962.txt`.
"""

from hashlib import sha256


def k(n):
    """The largest power of two smaller than n."""
    power = 1
    while power * 2 < n:
        power *= 2
    return power


def mth(d):
    """2.1: the Merkle tree hash."""
    if len(d) == 0:
        return sha256().digest()
    if len(d) == 1:
        return sha256(b"\x00" + d[0]).digest()
    s = k(len(d))
    return sha256(b"\x01" + mth(d[:s]) + mth(d[s:])).digest()


def path(m, d):
    """2.1.1: the audit path of entry m."""
    if len(d) == 1:
        return []
    s = k(len(d))
    if m < s:
        return path(m, d[:s]) + [mth(d[s:])]
    return path(m - s, d[s:]) + [mth(d[:s])]


def subproof(m, d, b):
    """2.1.2: the inner part of the consistency proof."""
    if m == len(d):
        return [] if b else [mth(d)]
    s = k(len(d))
    if m <= s:
        return subproof(m, d[:s], b) + [mth(d[s:])]
    return subproof(m - s, d[s:], False) + [mth(d[:s])]


for size in range(41):
    entries = [str(i).encode() for i in range(size)]
    inclusion = b"".join(b"".join(path(i, entries)) for i in range(size))
    consistency = b"".join(b"".join(subproof(m, entries, True)) for m in range(1, size + 1))
    print(size, mth(entries).hex(), sha256(inclusion).hexdigest(), sha256(consistency).hexdigest())
