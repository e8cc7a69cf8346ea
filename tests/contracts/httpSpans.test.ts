/** The server spans of HTTP requests, and what happens below them. */
import { expect } from 'chai';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { openSocket } from '../support/responsesSocket';
import { problemsOf } from '../support/telemetry/checkConventions';
import { SpanRecorder } from '../support/telemetry/SpanRecorder';
import { until } from '../support/until';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

describe('the spans of HTTP requests', () => {
  const recorder = new SpanRecorder();
  let gateway: Gateway;
  before(async () => {
    recorder.install();
    gateway = await startGateway();
  });
  after(async () => {
    await gateway.close();
    recorder.uninstall();
  });
  beforeEach(() => recorder.reset());

  async function ask(path: string, body: JsonObject): Promise<void> {
    const response = await gateway.request(path, body, { headers: { traceparent: TRACEPARENT } });
    await response.text();
    await until(async () => recorder.spans.some(({ name }) => name.startsWith('POST')));
  }

  it('join the trace of the caller, and are the parents of model calls', async () => {
    await ask('/v1/responses?key=secret', { model: 'openai/gpt-4.1', input: 'hi' });
    expect(recorder.tree()).to.deep.equal(['POST /v1/responses', '  chat gpt-4.1']);
    const request = recorder.only('POST /v1/responses');
    expect(request.spanContext().traceId).to.equal(TRACE_ID);
    expect(request.parentSpanContext?.spanId).to.equal('00f067aa0ba902b7');
    expect(request.attributes).to.include({
      'http.request.method': 'POST',
      'http.route': '/v1/responses',
      'http.response.status_code': 200,
      'url.path': '/v1/responses',
      'url.scheme': 'http',
    });
    expect(JSON.stringify(request.attributes)).not.to.contain('secret');
    expect(problemsOf(recorder.spans, '1.41')).to.deep.equal([]);
  });

  it('end with the stream of a response', async () => {
    await ask('/v1/responses', { model: 'openai/gpt-4.1', input: 'hi', stream: true });
    expect(recorder.tree()).to.deep.equal(['POST /v1/responses', '  chat gpt-4.1']);
    expect(recorder.open).to.equal(0);
  });

  it('report refused requests without an error of the server', async () => {
    await ask('/v1/responses', { model: 'openai/gpt-4.1' });
    const { attributes, status } = recorder.only('POST /v1/responses');
    expect(attributes['http.response.status_code']).to.equal(400);
    expect([status.code, attributes['error.type']]).to.deep.equal([0, undefined]);
  });

  it('are one for each request over a WebSocket', async () => {
    const socket = await openSocket({ url: gateway.url, token: TOKENS.ann, headers: { traceparent: TRACEPARENT } });
    await socket.turn({ model: 'openai/gpt-4.1', input: 'hi' });
    await socket.turn({ model: 'unknown/m', input: 'hi' });
    await socket.close();
    await until(async () => recorder.named('GET /v1/responses').length === 2);
    expect(recorder.tree()).to.deep.equal(['GET /v1/responses', '  chat gpt-4.1', 'GET /v1/responses']);
    const [first, second] = recorder.named('GET /v1/responses');
    expect(first?.attributes).to.include({ 'http.route': '/v1/responses', 'http.response.status_code': 200 });
    expect(second?.attributes['http.response.status_code']).to.equal(404);
    for (const span of [first, second]) {
      expect(span?.spanContext().traceId).to.equal(TRACE_ID);
      expect(span?.parentSpanContext?.spanId).to.equal('00f067aa0ba902b7');
    }
    expect(problemsOf(recorder.spans, '1.41')).to.deep.equal([]);
  });
});
