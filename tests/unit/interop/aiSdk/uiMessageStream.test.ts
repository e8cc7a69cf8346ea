import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { createUIMessageStreamResponse, DefaultChatTransport, readUIMessageStream } from 'ai';
import type { UIMessage, UIMessageChunk } from 'ai';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import type { AgentEvent } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import {
  pipeUIMessageStream,
  toUIMessageStream,
  toUIMessageStreamResponse,
} from '../../../../imports/interop/aiSdk/uiMessageStream';
import type { UIMessageSource } from '../../../../imports/interop/aiSdk/uiMessageStream';
import { AgentRun } from '../../../../imports/library/AgentRun';
import { deferred } from '../../../support/deferred';
import { recordedRun } from '../../../support/recordedRun';
import { answer, calling } from '../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../imports/testing/ScriptedProvider';

/** Ends with `thrown`, if there is something to throw. */
async function* source(events: readonly AgentEvent[], thrown?: Error): AsyncGenerator<AgentEvent> {
  for (const event of events) {
    await Promise.resolve();
    yield event;
  }
  if (thrown !== undefined) throw thrown;
}

function agentRun(script: readonly ScriptedStep[], tools = new ToolRegistry()): AgentRun {
  const loop = new AgenticLoop({ provider: new ScriptedProvider(script), toolExecutor: tools });
  const names = tools.tools.map(({ name }) => name);
  return new AgentRun({
    loop,
    userId: 'ann',
    options: { executionId: 'run-9', model: 'scripted-model', input: 'go', stream: true, tools: names },
    metadata: {},
  });
}

async function read(stream: ReadableStream<UIMessageChunk>): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) last = message;
  return last;
}

describe('toUIMessageStream', () => {
  it('streams an agent’s run to the AI SDK’s reader', async () => {
    const message = await read(toUIMessageStream(agentRun([answer('Hello.')])));
    expect(message?.id).to.equal('run-9');
    expect(message?.parts.at(-1)).to.include({ type: 'text', text: 'Hello.', state: 'done' });
  });

  it('works as a part of the AI SDK’s own responses', async () => {
    const stream = toUIMessageStream(source(await recordedRun()));
    const text = await createUIMessageStreamResponse({ stream }).text();
    expect(text)
      .to.contain('"type":"tool-output-available"')
      .and.to.match(/\[DONE\]\n\n$/);
  });

  it('reads the run only as fast as the reader does', async () => {
    let read = 0;
    const events = await recordedRun();
    const slow: UIMessageSource = {
      async *[Symbol.asyncIterator]() {
        for (const event of events) {
          await Promise.resolve();
          read += 1;
          yield event;
        }
      },
    };
    const reader = toUIMessageStream(slow).getReader();
    await reader.read();
    await reader.read();
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).to.be.lessThan(6);
  });

  it('cancels the run of a reader that leaves only if it is asked to', async () => {
    let cancelled = 0;
    const run = async (): Promise<UIMessageSource> =>
      Object.assign(source(await recordedRun()), { cancel: () => Promise.resolve((cancelled += 1)) });
    await toUIMessageStream(await run()).cancel();
    expect(cancelled).to.equal(0);
    await toUIMessageStream(await run(), { onDisconnect: 'cancel' }).cancel();
    expect(cancelled).to.equal(1);
  });

  it('shows the errors of runs once, and nothing of others', async () => {
    const errorsIn = async (stream: ReadableStream<unknown>): Promise<readonly unknown[]> => {
      const found: unknown[] = [];
      // Node's streams are iterable, but the DOM's type does not declare it.
      for await (const chunk of stream as unknown as AsyncIterable<{ type: string; errorText?: string }>)
        if (chunk.type === 'error') found.push(chunk.errorText);
      return found;
    };
    const loopError = agentRun(
      [calling({ name: 'a' }), new Error('boom at 10.0.0.1')],
      new ToolRegistry().register({ name: 'a', execute: () => 1 }),
    );
    const [shown, ...others] = await errorsIn(toUIMessageStream(loopError));
    expect(shown).to.be.a('string').that.does.not.contain('10.0.0.1');
    expect(others).to.deep.equal([]);
    const broken = (): UIMessageSource => source([], new Error('secret'));
    expect(await errorsIn(toUIMessageStream(broken()))).to.deep.equal(['The run failed unexpectedly.']);
    expect(await errorsIn(toUIMessageStream(broken(), { onError: () => 'Sorry.' }))).to.deep.equal(['Sorry.']);
  });
});

describe('toUIMessageStreamResponse', () => {
  it('has the headers of the protocol and those that are given', async () => {
    const response = toUIMessageStreamResponse(agentRun([answer('Hi')]), { status: 201, headers: { 'x-a': 'b' } });
    expect(response.status).to.equal(201);
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).to.equal('v1');
    expect(response.headers.get('x-a')).to.equal('b');
    expect(await response.text()).to.match(/^data: \{"type":"start"[^]*data: \[DONE\]\n\n$/);
  });
});

describe('pipeUIMessageStream', () => {
  async function serve(run: (options: { readonly closed: () => void }) => UIMessageSource, options = {}) {
    const closed = deferred<undefined>();
    const server = createServer((_request, response) => {
      pipeUIMessageStream(run({ closed: () => closed.resolve(undefined) }), response, options).then(
        () => closed.resolve(undefined),
        closed.reject,
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}`,
      closed: closed.promise,
      close: () => {
        server.close();
        server.closeAllConnections();
      },
    };
  }

  it('serves the transport of the AI SDK from an endpoint of three lines', async () => {
    const server = await serve(() => agentRun([answer('Hello.')]));
    const transport = new DefaultChatTransport({ api: server.url });
    const message = await read(
      await transport.sendMessages({
        chatId: 'c',
        messages: [],
        trigger: 'submit-message',
        messageId: undefined,
        abortSignal: undefined,
      }),
    );
    expect(message?.parts.at(-1)).to.include({ text: 'Hello.' });
    server.close();
  });

  it('sends comments while the run is silent', async () => {
    const gate = deferred<unknown>();
    const tools = new ToolRegistry().register({ name: 'slow', execute: () => gate.promise });
    const server = await serve(() => agentRun([calling({ name: 'slow' }), answer('Done')], tools), {
      keepAliveAfter: 5,
    });
    const response = await fetch(server.url);
    let text = '';
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(part).toString();
      if (text.includes(': keep-alive\n\n')) gate.resolve('late');
    }
    expect(text).to.contain('"delta":"Done"');
    server.close();
  });

  it('cancels the run of a client that has left, if it is asked to', async () => {
    const cancelled = deferred<undefined>();
    const gate = deferred<unknown>();
    const tools = new ToolRegistry().register({ name: 'slow', execute: () => gate.promise });
    const run = agentRun([calling({ name: 'slow' })], tools);
    const server = await serve(
      () =>
        Object.assign(run[Symbol.asyncIterator](), {
          cancel: async () => {
            await run.cancel();
            cancelled.resolve(undefined);
          },
        }),
      { onDisconnect: 'cancel' },
    );
    const controller = new AbortController();
    const response = await fetch(server.url, { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    await cancelled.promise;
    await server.closed;
    gate.resolve(undefined);
    server.close();
  });
});
