/**
 * The spans of a run as a tree in the terminal: OpenTelemetry's SDK keeps them in memory instead of exporting them. The
 * run asks a model, which calls a tool, and one that works in the background. Without a vendor's key, on the simulator.
 *
 * npm run example:tracing -- [message]
 */
import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { moduleFromEnvironment } from '../imports/host/moduleFromEnvironment';
import { SIMULATION_NOTICE } from '../imports/host/simulation';

const exporter = new InMemorySpanExporter();

// An application sets this up before anything else, usually with NodeSDK of @opentelemetry/sdk-node.
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());

async function main(message: string): Promise<void> {
  const { module, simulator } = await moduleFromEnvironment(process.env);
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  try {
    const { response } = await module.loop.execute('local', {
      model: module.settings.defaultProvider ?? [...module.providers.keys()][0] ?? '',
      input: message,
      tools: ['get_weather', 'research_topic'],
      stream: true,
    });
    console.log(`${response.output_text}\n`);
    for (const line of treeOf(exporter.getFinishedSpans())) console.log(line);
  } finally {
    await module.close();
    await simulator?.close();
  }
}

/** A line for each span, below its parent, in the order in which they began. */
function treeOf(spans: readonly ReadableSpan[], parent?: string, indent = ''): readonly string[] {
  return spans
    .filter((span) => span.parentSpanContext?.spanId === parent)
    .toSorted((a, b) => milliseconds(a.startTime) - milliseconds(b.startTime))
    .flatMap((span) => [indent + lineOf(span), ...treeOf(spans, span.spanContext().spanId, `${indent}  `)]);
}

function lineOf({ name, attributes, duration, status, links }: ReadableSpan): string {
  const input = attributes['gen_ai.usage.input_tokens'];
  const facts = [
    `${milliseconds(duration).toFixed(0)} ms`,
    ...(input === undefined ? [] : [`${String(input)} + ${String(attributes['gen_ai.usage.output_tokens'])} tokens`]),
    ...(links.length === 0 ? [] : ['delivers a late result']),
    ...(status.code === SpanStatusCode.ERROR ? [`failed: ${String(attributes['error.type'])}`] : []),
  ];
  return `${name} (${facts.join(', ')})`;
}

function milliseconds([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

const [given = 'What is the weather in Lisbon? And research the topic tiny boats.'] = process.argv.slice(2);
main(given).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
