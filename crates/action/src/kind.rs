//! The kinds of action, from the mildest to the most severe.

countersign_canon::choice! {
    /// What kind of action it is. The order is the order of severity: of several acts the greatest is the kind of all.
    ///
    /// The tiers are those of the shipped lattice and policies: what only reads; what goes out without writing; what
    /// writes to the workspace; what a person must approve; what is denied.
    pub enum Kind {
        /// Reads files.
        FsRead = "fs.read",
        /// Runs commands that only look.
        ShellRead = "shell.read",
        /// Speaks to an agent that is at work.
        TurnSteer = "turn.steer",
        /// Starts another agent.
        AgentSpawn = "agent.spawn",
        /// Asks the network for something.
        NetFetch = "net.fetch",
        /// Changes what the session may do.
        SessionSetMode = "session.set_mode",
        /// Writes files of the workspace.
        FsWrite = "fs.write",
        /// Runs commands that change the workspace.
        ShellWrite = "shell.write",
        /// Records changes in the repository's history.
        GitCommit = "git.commit",
        /// Deletes files of the workspace.
        FsDelete = "fs.delete",
        /// Calls a tool of an MCP server.
        McpCall = "mcp.call",
        /// Writes files outside the workspace, or files in it that govern the agent or the machine.
        FsWriteOutside = "fs.write_outside",
        /// Installs software.
        PkgInstall = "pkg.install",
        /// Publishes commits.
        GitPush = "git.push",
        /// Changes what others use: releases, clusters, clouds.
        Deploy = "deploy",
        /// Rewrites published history.
        GitPushForce = "git.push_force",
        /// Destroys what cannot be brought back.
        ShellDestructive = "shell.destructive",
        /// Nobody can say what it does.
        ShellUnknown = "shell.unknown",
    }
}
