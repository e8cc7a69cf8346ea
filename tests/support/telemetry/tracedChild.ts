/**
 * A process that executes runs and prints their spans as lines of JSON when they end, for tests that kill it. The model
 * calls `fetch`, which works in the background, and then `look`, during which `fetch` returns. `first <directory>
 * <traceparent>` starts a run, whose `look` never returns; `second <directory>` recovers it.
 */
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../../imports/business/ai/application/services/RunRecovery';
import { isList, isObject } from '../../../imports/business/ai/domain/util/json';
import { openDatabase } from '../../../imports/database/openDatabase';
import { openRunStore } from '../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { installTelemetry } from '../../../imports/business/ai/infrastructure/telemetry/installTelemetry';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../imports/testing/ScriptedProvider';
import { deferred } from '../deferred';
import { until } from '../until';

const RUN = 'run-1';

/** A line of the child: a span that has ended, or what else has happened. */
export interface PrintedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  /** The ids of the spans that it links to. */
  readonly links: readonly string[];
}

async function main([role = '', directory = '', traceparent = '']: readonly string[]): Promise<void> {
  const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({
      spanProcessors: [
        {
          onStart: () => undefined,
          onEnd: (span) => print({ span: printed(span) }),
          forceFlush: () => Promise.resolve(),
          shutdown: () => Promise.resolve(),
        },
      ],
    }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  installTelemetry();
  const store = await openRunStore(await openDatabase({ DATA_DIR: directory }));
  const isLooking = deferred();
  const loop = new AgenticLoop({
    provider: new ScriptedProvider([nextTurn, nextTurn, nextTurn]),
    toolExecutor: new ToolRegistry()
      .register({ name: 'fetch', blocking: false, execute: () => isLooking.promise.then(() => 'fetched') })
      .register({
        name: 'look',
        idempotent: true,
        timeout: 60_000,
        execute: () => {
          isLooking.resolve();
          return role === 'first' ? new Promise(() => undefined) : 'seen';
        },
      }),
    runStore: store,
    leaseTimes: { lease: 300, heartbeat: 50 },
  });
  if (role === 'second') {
    loop.on('run:completed', () => print({ state: 'completed' }));
    await new RunRecovery({ loop, store, lease: 300, scanIntervalMs: 50 }).start();
    return;
  }
  const caller = propagation.extract(context.active(), { traceparent });
  await context.with(caller, () =>
    loop.start('ann', { model: 'm', input: 'go', tools: ['fetch', 'look'], executionId: RUN }),
  );
  await until(async () => (await store.load(RUN))?.calls.some(({ state }) => state === 'completed') === true);
  print({ state: 'fetched' });
}

const nextTurn: ScriptedStep = ({ input }) => {
  const called = isList(input) ? input.map((item) => (isObject(item) ? item['name'] : undefined)) : [];
  if (!called.includes('fetch')) return calling({ name: 'fetch', call_id: 'f' });
  return called.includes('look') ? answer('Done.') : calling({ name: 'look', call_id: 'l' });
};

function printed(span: ReadableSpan): PrintedSpan {
  const { traceId, spanId } = span.spanContext();
  const links = span.links.map((link) => link.context.spanId);
  return { name: span.name, traceId, spanId, parent: span.parentSpanContext?.spanId, links };
}

if (process.argv[2] === 'first' || process.argv[2] === 'second')
  main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
