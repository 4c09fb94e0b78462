"""What the system and TLS call errors, in our reasons. The only place where their types and numbers are known."""

import ssl

from gossamer.core.outcome import Reason

DETAIL_CHARS_MAX = 120


def connect_fault(error: OSError, scheme: str) -> tuple[Reason, str]:
    """Why no connection came about, and one short line for people."""
    match error:
        case ssl.SSLCertVerificationError():
            return Reason.TLS_FAILED, _short(f"certificate: {error.verify_message}")
        case ssl.SSLError():
            return Reason.TLS_FAILED, _short(_tls_text(error))
        case TimeoutError():  # ETIMEDOUT is one too: the system gave up before we did
            return Reason.CONNECT_TIMEOUT, "no connection in time"
        case ConnectionRefusedError():
            return Reason.CONNECT_REFUSED, "connection refused"
        case ConnectionError() if scheme == "https":
            return Reason.TLS_FAILED, "closed during the handshake"
        case _:
            return Reason.CONNECT_FAILED, _short(error.strerror or str(error) or type(error).__name__)


def loss_detail(error: Exception | None) -> tuple[Reason | None, str]:
    """What a lost connection says: (None, "") for a clean end of stream, TLS_FAILED when TLS broke it off."""
    match error:
        case None:
            return None, ""
        case ssl.SSLError():
            return Reason.TLS_FAILED, _short(_tls_text(error))
        case ConnectionResetError():
            return Reason.CONNECTION_LOST, "connection reset"
        case OSError():
            return Reason.CONNECTION_LOST, _short(error.strerror or type(error).__name__)
        case _:
            return Reason.CONNECTION_LOST, _short(str(error) or type(error).__name__)


def _tls_text(error: ssl.SSLError) -> str:
    return (error.reason or error.strerror or "TLS failed").replace("_", " ").lower()


def _short(text: str) -> str:
    return " ".join(text.split())[:DETAIL_CHARS_MAX]
