/** Calls an SDK of OpenTelemetry, which may throw what a program's processors and exporters do. */
import { consoleLogger } from '../../../../log/consoleLogger';

let hasThrown = false;

export function withoutThrowing(call: () => void): void;
/** @param otherwise what is returned when the SDK throws */
export function withoutThrowing<T>(call: () => T, otherwise: () => T): T;
export function withoutThrowing<T>(call: () => T, otherwise?: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    const isFirst = !hasThrown;
    // A line of the log has the ids of the active span, which the SDK may throw for.
    hasThrown = true;
    if (isFirst) consoleLogger.error("OpenTelemetry's SDK threw, and may have lost spans or metrics.", error);
    return otherwise?.();
  }
}
