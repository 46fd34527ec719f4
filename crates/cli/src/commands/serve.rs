//! `countersign serve`: the service, over HTTP and a socket.

use std::{net::SocketAddr, path::PathBuf};

use clap::ValueEnum;
use countersign_canon::Json;
use countersign_service::{
    Listening, LogDetail, Node, ServeOptions, TlsFiles, TraceExport, serve, this_program,
};

use crate::{
    console::Console,
    effects::environment,
    embedded::Place,
    exit::Exit,
    failure::Failure,
    hosts::{ground::SOCKET, workspace::Workspace},
};

/// Serve decisions, approvals and the log over HTTP and a socket
///
/// One line of JSON on standard output says where, once requests are answered. SIGTERM and SIGINT stop the service after
/// what is under way. Whoever may call is known by a token (`countersign token create`); over the socket, processes of
/// the same user are agents without one. Traces go to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names, if it names one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign serve
  countersign serve --listen 127.0.0.1:0 --data /var/lib/countersign --policy-dir policy
  countersign serve --database 'host=/run/postgresql dbname=countersign'

Exit: 0 stopped by a signal, 2 it could not start")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) listening: ListenArguments,
    #[command(flatten)]
    pub(super) place: Place,
}

/// Where the service listens.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ListenArguments {
    /// The address; port 0 takes any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7717")]
    listen: SocketAddr,
    /// The socket, or `none` [default: service.sock in the data folder]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// A further name that the service is asked under, such as countersign.example:443; may be repeated
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// The certificate, in PEM form: the service speaks TLS 1.3 and may listen on more than loopback
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// TLS ends in front of the service, so that it may listen on more than loopback
    #[arg(long, conflicts_with = "tls_cert")]
    behind_tls: bool,
    /// The folder of the policy's three documents [default: policy/ in the data folder]
    #[arg(long, value_name = "DIR")]
    policy_dir: Option<PathBuf>,
    /// Which requests leave a line of JSON on standard error
    #[arg(long, value_enum, default_value_t = Log::Failures)]
    log: Log,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Log {
    Off,
    Failures,
    Requests,
}

impl ListenArguments {
    /// Opens the store with the policy folder.
    pub(super) fn open(&self, place: &Place) -> Result<Node, Failure> {
        let default = || place.data.join("policy");
        let mode = Workspace::mode_in(&place.data).map_err(Failure::CouldNotTell)?;
        let node = place.open_with_policy(self.policy_dir.clone().unwrap_or_else(default))?;
        Ok(node.with_mode_of_hosts(mode))
    }

    /// Serves until a signal says to stop.
    pub(super) fn serve(
        &self,
        node: Node,
        place: &Place,
        console: Console,
        ready: impl FnOnce(&Listening),
    ) -> Result<(), Failure> {
        let default = || place.data.join(SOCKET);
        let socket =
            Some(self.socket.clone().unwrap_or_else(default)).filter(|path| path.as_os_str() != "none");
        let options = ServeOptions {
            listen: self.listen,
            behind_tls: self.behind_tls,
            tls: self
                .tls_cert
                .clone()
                .zip(self.tls_key.clone())
                .map(|(certificate, key)| TlsFiles { certificate, key }),
            hosts: self.host.clone(),
            socket,
            detail: match self.log {
                Log::Off => LogDetail::Off,
                Log::Failures => LogDetail::Failures,
                Log::Requests => LogDetail::Requests,
            },
            journal: Box::new(move |line| console.say(line)),
            traces: TraceExport::from_variables(&environment::variable),
            prover: Some(this_program()?),
        };
        Ok(serve(node, options, ready)?)
    }
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { listening, place } = arguments;
    let node = listening.open(place)?;
    listening.serve(node, place, console, |found| {
        // Whoever started the service may not care where it is.
        let _nobody_reads = console.data(&format!("{}\n", as_json(found).to_canonical()));
    })?;
    Ok(Exit::Yes)
}

/// Where the service is, as one JSON object.
fn as_json(found: &Listening) -> Json<'static> {
    let text = |text: String| Json::from(text);
    let members = [
        ("listening", Some(text(found.url.clone()))),
        ("pid", Some(Json::from(environment::process_id()))),
        ("policy_hash", found.policy_hash.clone().map(text)),
        ("socket", found.socket.as_ref().map(|path| text(path.display().to_string()))),
    ];
    Json::object(members.into_iter().filter_map(|(key, value)| Some((key, value?))))
}
