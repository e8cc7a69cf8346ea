/** What an SDK of OpenTelemetry throws, its processors, samplers, exporters and meters included, fails nothing. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { context, metrics, propagation, trace } from '@opentelemetry/api';
import type { Meter, Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { LLMOverloadedError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { loadOpenTelemetry } from '../../../../../imports/business/ai/infrastructure/telemetry/openTelemetry';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../../imports/testing/responses';
import { tracedLoop } from '../../../../support/telemetry/tracedLoop';

function thrown(): never {
  throw new Error('The SDK threw.');
}

const SPAN_METHODS = ['setAttribute', 'setAttributes', 'addEvent', 'setStatus', 'end', 'isRecording', 'spanContext'];

/** A tracer of the SDK whose spans throw. */
function spansThat(throwAt: string): Tracer['startSpan'] {
  const tracer = new BasicTracerProvider().getTracer('bolide');
  return (...args) => Object.assign(tracer.startSpan(...args), { [throwAt]: thrown });
}

const registerTracer = (startSpan: Tracer['startSpan']): void => {
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan: thrown }) });
};
const processor = (fields: object) => ({
  onStart: () => undefined,
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
  ...fields,
});
const registerMeters = (fields: Partial<Meter>): void => {
  const meter = { createHistogram: thrown, createCounter: thrown, createObservableGauge: thrown, ...fields };
  metrics.setGlobalMeterProvider({ getMeter: () => meter as unknown as Meter });
};

/** By what throws. */
const SDKS: Readonly<Record<string, () => void>> = {
  'tracer provider': () => trace.setGlobalTracerProvider({ getTracer: thrown }),
  tracer: () => registerTracer(thrown),
  ...Object.fromEntries(SPAN_METHODS.map((method) => [`span’s ${method}`, () => registerTracer(spansThat(method))])),
  sampler: () => trace.setGlobalTracerProvider(new BasicTracerProvider({ sampler: { shouldSample: thrown } })),
  ...Object.fromEntries(
    ['onStart', 'onEnd'].map((hook) => [
      `processor’s ${hook}`,
      () => trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor({ [hook]: thrown })] })),
    ]),
  ),
  ...Object.fromEntries(
    ['active', 'with'].map((method) => [
      `context manager’s ${method}`,
      () => {
        trace.setGlobalTracerProvider(new BasicTracerProvider());
        context.setGlobalContextManager(
          Object.assign(new AsyncLocalStorageContextManager().enable(), { [method]: thrown }),
        );
      },
    ]),
  ),
  propagator: () => {
    trace.setGlobalTracerProvider(new BasicTracerProvider());
    propagation.setGlobalPropagator({ inject: thrown, extract: thrown, fields: () => [] });
  },
  'meter provider': () => metrics.setGlobalMeterProvider({ getMeter: thrown }),
  meter: () => registerMeters({}),
  instrument: () => {
    const instrument = { add: thrown, record: thrown, addCallback: thrown };
    registerMeters({
      createHistogram: () => instrument,
      createCounter: () => instrument,
      createObservableGauge: () => instrument as never,
    });
  },
};

describe('An SDK of OpenTelemetry', () => {
  afterEach(() => {
    for (const api of [trace, context, propagation, metrics]) api.disable();
  });

  for (const [what, install] of Object.entries(SDKS))
    it(`whose ${what} throws fails no run, no call and no request`, async () => {
      install();
      await loadOpenTelemetry();
      const tools = new ToolRegistry()
        .register({ name: 'look', execute: () => 'seen' })
        .register({ name: 'break', execute: thrown });
      const steps = [
        calling({ name: 'look' }, { name: 'break' }),
        new LLMOverloadedError('Too busy.'),
        answer('streamed'),
      ];
      const { loop, manager, telemetry } = tracedLoop({ tools, steps, fallbackSteps: [answer('Done.')] });
      const run = await loop.execute('ann', { model: 'openai/m', input: 'Look.', tools: ['look', 'break'] });
      expect(run.response.output_text).to.equal('Done.');
      let text = '';
      for await (const event of manager.stream('ann', { model: 'openai/m', input: 'Hi' }))
        if (event.type === 'response.completed') text = event.response.output_text;
      expect(text).to.equal('streamed');
      const socket = new Socket();
      const response = new ServerResponse(new IncomingMessage(socket));
      const request = {
        method: 'GET',
        headers: { host: 'localhost' },
        url: '/',
        socket,
        httpVersion: '1.1',
      };
      let requests = 0;
      telemetry.traceRequest({ request, response, route: '/' }, () => (requests += 1));
      response.emit('close');
      await telemetry.traceMessage({ request, route: '/' }, () => {
        requests += 1;
        return Promise.resolve({ status: 500, hasLeft: true });
      });
      expect(requests).to.equal(2);
      telemetry.close();
      expect(telemetry.openRuns).to.equal(0);
      await loop.close();
    });
});
