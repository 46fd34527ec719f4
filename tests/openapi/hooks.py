"""What the fuzzer leaves alone: streams that never end, which it would wait for in vain, and the token that it asks with."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.path.startswith("/v1/events"):
        case.query = {**(case.query or {}), "follow": "false"}
    if case.path.startswith("/v1/tokens/") and (case.path_parameters or {}).get("name") == "fuzzer":
        case.path_parameters["name"] = "nobody"
