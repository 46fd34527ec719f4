//! Machine codes of the service.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// The clock of this machine shows no time that can be written down.
        SERVICE_CLOCK
        /// The service contradicts itself: a defect of ours.
        SERVICE_DEFECT
        /// A line of a bundle is not what it should be.
        BUNDLE_INVALID
        /// A bundle lacks something that its log speaks of.
        BUNDLE_INCOMPLETE
        /// A decision of a bundle is not the one in the log, or would not be made again.
        BUNDLE_DECISION
        /// An approval of a bundle is not as the log saw it, or is not signed.
        BUNDLE_APPROVAL
        /// A proof of a bundle is not the one in the log, or its certificate does not hold.
        BUNDLE_PROOF
        /// A text is longer or shorter than it may be.
        SERVICE_TEXT_LENGTH
        /// The service could not be reached, or did not answer as one.
        SERVICE_UNREACHABLE
        /// Who answered did not show to be the service: the certificate is missing, of another name, or nobody vouches for it.
        SERVICE_UNTRUSTED
        /// The service refused with a code that this program does not know.
        SERVICE_REFUSED
        /// The address to listen on is not safe without TLS, or is taken.
        SERVICE_LISTEN
        /// The policy in a workspace's folder is not the one that was put in force.
        HOOK_POLICY_CHANGED
        /// A request is not what this route takes.
        HTTP_REQUEST_INVALID
        /// There is no such route.
        HTTP_NO_ROUTE
        /// The route knows other methods.
        HTTP_METHOD
        /// The request is for another host: somebody may be pointing a name of theirs at this service.
        HTTP_HOST
        /// The request comes from a page of another origin.
        HTTP_ORIGIN
        /// The body is not sent as JSON.
        HTTP_MEDIA_TYPE
        /// The request is too large, too deep or has too many keys.
        HTTP_TOO_LARGE
        /// The request did not arrive in time.
        HTTP_TOO_SLOW
        /// The caller asks more often than it may.
        HTTP_TOO_MANY
    }
}
