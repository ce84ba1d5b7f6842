"""The state machine of `model`, for as long as a gate has time; `make torture` gives it more."""

from hypothesis import HealthCheck, Phase, settings

from tests.torture.model import StoreLife

TestStoreLife = StoreLife.TestCase
TestStoreLife.settings = settings(
    max_examples=20,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[*HealthCheck],
)
