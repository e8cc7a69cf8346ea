/**
 * OpenTelemetry's API, which is loaded once the program has set up an SDK, at whatever time: its files would be a large
 * part of what a short program loads.
 */
import { consoleLogger } from '../../../../log/consoleLogger';
import { Tracing } from './Tracing';
import type { OpenTelemetry } from './Tracing';
import { withoutThrowing } from './withoutThrowing';

/**
 * Where all copies of the API, version 1, keep what SDKs register with them.
 * https://github.com/open-telemetry/opentelemetry-js/blob/main/api/src/internal/global-utils.ts
 */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

// Boundary: other copies of the API write it.
const shared = globalThis as { readonly [REGISTRY]?: Readonly<Partial<Record<'trace' | 'metrics', object>>> };

let loaded: OpenTelemetry | undefined;
let loading: Promise<void> | undefined;

/** Whether an SDK has registered a provider for traces. */
export function hasTraceSdk(): boolean {
  return shared[REGISTRY]?.trace !== undefined;
}

/** The provider that an SDK has registered for metrics. Undefined: there is none. */
export function metricSdk(): object | undefined {
  return shared[REGISTRY]?.metrics;
}

/** Undefined until it has been loaded, which `loadOpenTelemetry` does. */
export function openTelemetry(): OpenTelemetry | undefined {
  return loaded;
}

/** Undefined if the program has no SDK for traces. */
export function tracing(): Tracing | undefined {
  const api = loaded;
  if (api === undefined || !hasTraceSdk()) return undefined;
  return withoutThrowing<Tracing | undefined>(
    () => new Tracing(api, api.trace.getTracer('bolide')),
    () => undefined,
  );
}

/** @returns undefined if the program has no SDK, or the API is loaded */
export function loadOpenTelemetry(): Promise<void> | undefined {
  if (loaded !== undefined || (!hasTraceSdk() && metricSdk() === undefined)) return undefined;
  loading ??= import('@opentelemetry/api').then(
    (api) => {
      loaded = api;
    },
    (error: unknown) =>
      consoleLogger.warn('The API of OpenTelemetry could not be loaded, so nothing is reported to its SDK.', error),
  );
  return loading;
}
