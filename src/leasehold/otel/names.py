"""Every name that leasehold gives to OpenTelemetry, by the semantic conventions for messaging (still in development there).

https://opentelemetry.io/docs/specs/semconv/messaging/
"""

from __future__ import annotations

SCOPE = "leasehold"

SYSTEM = "messaging.system"
SYSTEM_VALUE = "leasehold"
OPERATION_NAME = "messaging.operation.name"
OPERATION_TYPE = "messaging.operation.type"
DESTINATION = "messaging.destination.name"
MESSAGE_ID = "messaging.message.id"
CONVERSATION_ID = "messaging.message.conversation_id"
BATCH_COUNT = "messaging.batch.message_count"
CONSUMER_GROUP = "messaging.consumer.group.name"
ERROR_TYPE = "error.type"

KIND = "leasehold.job.kind"
ATTEMPT = "leasehold.job.attempt"
MAX_ATTEMPTS = "leasehold.job.max_attempts"
KEY = "leasehold.job.key"
WORKER = "leasehold.worker.id"
IS_NEW = "leasehold.job.is_new"
OUTCOME = "leasehold.outcome"

ENQUEUE = "enqueue"
PROCESS = "process"
SEND_TYPE = "send"
PROCESS_TYPE = "process"

SENT = "messaging.client.sent.messages"
CONSUMED = "messaging.client.consumed.messages"
PROCESS_DURATION = "messaging.process.duration"
WAIT_DURATION = "leasehold.job.wait.duration"
ENDED = "leasehold.job.attempts"
LEASES_LOST = "leasehold.leases.lost"

SECONDS = "s"
DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
