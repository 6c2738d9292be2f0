"""What a server counts, for Prometheus: with the extra `kbp[metrics]`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbp.server.stock import Stock

_METHODS = frozenset(
    {
        *("initialize", "ping", "server/discover", "subscriptions/listen", "prompts/list", "prompts/get"),
        *(
            "completion/complete",
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/read",
            "resources/templates/list",
        ),
    }
)
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """The counters of one server.

    Raises:
        ImportError: prometheus-client is not there.
    """

    def __init__(self, stock: "Stock") -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._registry = CollectorRegistry()
        labels: Sequence[str] = ("method", "outcome")
        self._requests = Counter("kbp_requests", "Requests answered.", labels, registry=self._registry)
        self._seconds = Histogram(
            "kbp_request_seconds", "Time to answer.", ("method",), buckets=_BUCKETS, registry=self._registry
        )
        self._prompts = Counter("kbp_prompt_gets", "Prompts given out.", ("prompt",), registry=self._registry)
        offered = Gauge("kbp_prompts", "Prompts on offer.", registry=self._registry)
        offered.set_function(lambda: len(stock.offers.prompts))
        kept = Gauge("kbp_prompts_kept", "Prompts served as they last were.", registry=self._registry)
        kept.set_function(lambda: sum(map(len, stock.kept().values())))
        self._refused = Counter("kbp_refused", "Requests that reached no method.", ("status",), registry=self._registry)

    def count(self, method: str, outcome: str, seconds: float, prompt: str | None) -> None:
        """Count a request: its method, how it ended, how long it took, and the prompt it gave."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, outcome).inc()
        self._seconds.labels(method).observe(seconds)
        if prompt is not None:
            self._prompts.labels(prompt).inc()

    def refuse(self, status: int) -> None:
        """Count a request that reached no method."""
        self._refused.labels(str(status)).inc()

    def text(self) -> bytes:
        """All of it, in the text format of Prometheus."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)
