import { expect } from 'chai';
import { Chats } from '../../../../imports/api/chat/Chats';
import type { ChatsPorts } from '../../../../imports/api/chat/Chats';
import type { ChatRequest } from '../../../../imports/api/chat/readChatRequest';
import { HttpError } from '../../../../imports/api/http/HttpError';
import { readUIMessages } from '../../../../imports/interop/aiSdk/readUIMessages';
import { childId } from '../../../../imports/business/ai/application/services/shared/childId';
import { failure } from '../../../support/failure';

const PRINCIPAL = { userId: 'ann' };
const CALL = { id: 'g', name: 'guarded', state: 'awaiting_approval' };
const LAST = { id: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] } as const;
const MESSAGE: ChatRequest = {
  chatId: 'c',
  messages: [LAST],
  sentMessages: '[]',
  trigger: 'submit-message',
  tools: [],
};

describe('Chats', () => {
  it('takes a message in place of a decision before the end of the model call is stored', async () => {
    const { chats, cancelled } = chatWithRun({ stored: true, live: false });
    expect(await chats.submit(PRINCIPAL, MESSAGE)).to.deep.equal({ executionId: 'run-2' });
    expect(cancelled).to.deep.equal(['run-1']);
  });

  it('queues a message while a late result is given to the model', async () => {
    const { chats, cancelled, sent } = chatWithRun({ stored: false, live: true });
    expect(await chats.submit(PRINCIPAL, MESSAGE)).to.include({ executionId: 'run-1' });
    expect(sent).to.deep.equal(['run-1']);
    expect(cancelled).to.deep.equal([]);
  });

  it('refuses to answer anew while it answers', async () => {
    const { chats } = chatWithRun({ stored: true });
    const error = await failure(chats.submit(PRINCIPAL, { ...MESSAGE, trigger: 'regenerate-message' }));
    expect(error).to.be.instanceOf(HttpError).with.property('httpStatus', 409);
  });

  it('goes by what is stored of a run of another process', async () => {
    const busy = chatWithRun({ stored: true });
    await busy.chats.submit(PRINCIPAL, MESSAGE);
    expect(busy).to.deep.include({ sent: ['run-1'], cancelled: [] });
    const { chats, cancelled } = chatWithRun({ stored: false });
    await chats.submit(PRINCIPAL, MESSAGE);
    expect(cancelled).to.deep.equal(['run-1']);
  });

  it('takes a message in place of decisions about as many runs below as may work at once', async () => {
    const calls = ['first', 'second'].map((id) => ({ id, name: 'ask', state: 'executing' }));
    const plan = (maxParallelTools: number): object => ({ limits: { maxParallelTools } });
    const below = { [childId('run-1', 'first')]: { run: { isCalling: false }, calls: [CALL] } };
    const { chats, cancelled, loads } = chatWithRun({ stored: false }, calls, { plan: plan(1), below });
    await chats.submit(PRINCIPAL, MESSAGE);
    expect(cancelled).to.deep.equal(['run-1']);
    // Each of the runs is read once to know that.
    expect(loads.slice(0, 3)).to.deep.equal(['run-1', ...calls.map(({ id }) => childId('run-1', id))]);
    const busy = chatWithRun({ stored: false }, calls, { plan: plan(2), below });
    await busy.chats.submit(PRINCIPAL, MESSAGE);
    expect(busy).to.deep.include({ sent: ['run-1'], cancelled: [] });
  });

  it('decides about a call of the run whose id looks like that of a call of another run', async () => {
    const id = `${'a'.repeat(32)}:b`;
    const { chats, approved } = chatWithRun({ stored: false }, [{ ...CALL, id, arguments: '{}' }]);
    const [message] = readUIMessages([
      {
        id: 'run-1',
        role: 'assistant',
        parts: [
          { type: 'tool-guarded', toolCallId: id, state: 'approval-responded', approval: { id, approved: true } },
        ],
      },
    ]);
    const { decided } = await chats.submit(PRINCIPAL, { ...MESSAGE, messages: message === undefined ? [] : [message] });
    expect(approved).to.deep.equal([id]);
    expect([...(decided ?? [])]).to.deep.equal([`run-1:${id}`]);
  });
});

/** A chat whose run waits for an approval. @param isCalling what is stored, and what the run's process knows */
function chatWithRun(
  { stored, live }: { stored: boolean; live?: boolean },
  calls: readonly Readonly<Record<string, string>>[] = [CALL],
  { plan, below = {} }: { plan?: object; below?: Readonly<Record<string, object>> } = {},
) {
  const run = { plan, executionId: 'run-1', userId: 'ann', state: 'running', isCalling: stored };
  const context = {
    executionId: 'run-1',
    toolCalls: new Map(calls.map((call) => [call['id'], call])),
    isCalling: live,
  };
  const cancelled: string[] = [];
  const loads: string[] = [];
  const sent: string[] = [];
  const approved: string[] = [];
  const ports = {
    chats: {
      find: async () => ({ userId: 'ann', chatId: 'c', requestId: 'first', fingerprint: 'another', messages: '[]' }),
      replace: async () => true,
    },
    runs: {
      findRequest: async () => run,
      load: async (id: string) => {
        loads.push(id);
        return id === 'run-1' ? { run, calls } : below[id];
      },
    },
    methods: {
      'ai.runs.start': async () => ({ executionId: 'run-2' }),
      'ai.runs.cancel': async (_actor: unknown, { executionId }: { executionId: string }) => {
        cancelled.push(executionId);
        return 'cancelled';
      },
      'ai.runs.approve': async (_actor: unknown, { callId }: { callId: string }) => void approved.push(callId),
      'ai.runs.send': async (_actor: unknown, { executionId }: { executionId: string }) => void sent.push(executionId),
    },
    loop: {
      getExecutionContext: () => (live === undefined ? undefined : context),
      local: { whenStored: () => Promise.resolve() },
    },
    models: { resolve: async () => ({ providerId: 'openai', address: 'openai' }) },
    tools: { tools: [{ name: 'ask', kind: 'run' }] },
  };
  return { chats: new Chats(ports as unknown as ChatsPorts), cancelled, sent, approved, loads };
}
