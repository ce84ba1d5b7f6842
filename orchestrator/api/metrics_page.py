"""The text of `/metrics`, as Prometheus reads it. Loaded by the first who asks for it."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from orchestrator.core.metrics import METRICS, MetricKind, Reading

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_FAMILIES = {MetricKind.GAUGE: GaugeMetricFamily, MetricKind.COUNTER: CounterMetricFamily}


class _Snapshot(Collector):
    """The values of one moment."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def collect(self) -> Iterator[Metric]:
        """Each number with its values, in the order of `METRICS`."""
        for metric in METRICS:
            family = _FAMILIES[metric.kind](metric.name, metric.meaning, labels=metric.labels)
            for labels, value in metric.samples(self._reading):
                family.add_metric([labels[name] for name in metric.labels], value)
            yield family


def metrics_page(reading: Reading) -> bytes:
    """All values, in the text-based exposition format 0.0.4."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Snapshot(reading))
    return generate_latest(registry)
