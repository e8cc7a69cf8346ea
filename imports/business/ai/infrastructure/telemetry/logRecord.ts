/** A line of the log as fields, without secrets. */
import { redactSecrets } from '../../domain/errors/safeText';
import { isObject } from '../../domain/util/json';
import type { LogLine, LogIds } from '../../../../log/logWriter';
import { maskCredentials } from '../../domain/errors/maskCredentials';
import { currentLogIds } from '../../../../log/logWriter';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { openTelemetry } from './openTelemetry';
import { spanContextOf } from './Tracing';

export interface LogRecord {
  readonly msg: string;
  /** The first error of the line. */
  readonly err?: ErrorRecord;
  /** What else belongs to the line. */
  readonly details?: readonly unknown[];
  readonly [id: string]: unknown;
}

interface ErrorRecord {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

/** How far causes are followed, which may be circular. */
const MAX_DEPTH = 8;

export function toLogRecord({ message, details }: LogLine): LogRecord {
  const error = details.find((detail) => detail instanceof Error);
  const others = details.filter((detail) => detail !== error).map((detail) => safe(detail));
  return omitUndefined({
    ...currentIds(),
    msg: redactSecrets(message),
    err: error && toErrorRecord(error, 0),
    details: others.length === 0 ? undefined : others,
  });
}

function toErrorRecord(error: Error, depth: number): ErrorRecord {
  const { name, message, stack, cause } = error;
  const code: unknown = 'code' in error ? error.code : undefined;
  return omitUndefined({
    type: name,
    message: redactSecrets(message),
    code: typeof code === 'string' ? code : undefined,
    stack: stack === undefined ? undefined : redactSecrets(stack),
    cause:
      cause === undefined || depth === MAX_DEPTH
        ? undefined
        : cause instanceof Error
          ? toErrorRecord(cause, depth + 1)
          : safe(cause),
  });
}

/** A copy that can be written as JSON. */
function safe(value: unknown): unknown {
  if (value instanceof Error) return toErrorRecord(value, 0);
  if (typeof value === 'string') return redactSecrets(value);
  if (!isObject(value) && !Array.isArray(value)) return value;
  try {
    return JSON.parse(JSON.stringify(maskCredentials(value)), (_name, part: unknown) =>
      typeof part === 'string' ? redactSecrets(part) : part,
    ) as unknown;
  } catch {
    // Circular, or it holds what JSON has not: it is named at least.
    return '[not JSON]';
  }
}

/** In OpenTelemetry's names. */
interface SpanIds {
  readonly trace_id?: string;
  readonly span_id?: string;
}

function currentIds(): LogIds & SpanIds {
  const api = openTelemetry();
  const span = api === undefined ? undefined : spanContextOf(api);
  return {
    ...currentLogIds(),
    ...(span === undefined || api?.isSpanContextValid(span) !== true
      ? {}
      : { trace_id: span.traceId, span_id: span.spanId }),
  };
}
