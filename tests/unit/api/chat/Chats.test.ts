import { expect } from 'chai';
import { Chats } from '../../../../imports/api/chat/Chats';
import type { ChatsPorts } from '../../../../imports/api/chat/Chats';
import type { ChatRequest } from '../../../../imports/api/chat/readChatRequest';
import { HttpError } from '../../../../imports/api/http/HttpError';
import { failure } from '../../../support/failure';

const PRINCIPAL = { userId: 'ann' };
const CALL = { id: 'g', name: 'guarded', state: 'awaiting_approval' };
const MESSAGE: ChatRequest = { chatId: 'c', messages: [], sentMessages: '[]', trigger: 'submit-message', tools: [] };

describe('Chats', () => {
  it('takes a message in place of a decision before the end of the model call is stored', async () => {
    const { chats, cancelled } = chatWithRun({ stored: true, live: false });
    expect(await chats.submit(PRINCIPAL, MESSAGE)).to.deep.equal({ executionId: 'run-2' });
    expect(cancelled).to.deep.equal(['run-1']);
  });

  it('refuses a message while a late result is given to the model', async () => {
    const { chats, cancelled } = chatWithRun({ stored: false, live: true });
    const error = await failure(chats.submit(PRINCIPAL, MESSAGE));
    expect(error).to.be.instanceOf(HttpError).with.property('httpStatus', 409);
    expect(cancelled).to.deep.equal([]);
  });

  it('goes by what is stored of a run of another process', async () => {
    const error = await failure(chatWithRun({ stored: true }).chats.submit(PRINCIPAL, MESSAGE));
    expect(error).to.be.instanceOf(HttpError).with.property('httpStatus', 409);
    const { chats, cancelled } = chatWithRun({ stored: false });
    await chats.submit(PRINCIPAL, MESSAGE);
    expect(cancelled).to.deep.equal(['run-1']);
  });
});

/** A chat whose run waits for an approval. @param isCalling what is stored, and what the run's process knows */
function chatWithRun({ stored, live }: { stored: boolean; live?: boolean }): { chats: Chats; cancelled: string[] } {
  const run = { executionId: 'run-1', userId: 'ann', state: 'running', isCalling: stored };
  const context = { executionId: 'run-1', toolCalls: new Map([[CALL.id, CALL]]), isCalling: live };
  const cancelled: string[] = [];
  const ports = {
    chats: {
      find: async () => ({ userId: 'ann', chatId: 'c', requestId: 'first', fingerprint: 'another', messages: '[]' }),
      replace: async () => true,
    },
    runs: { findRequest: async () => run, load: async () => ({ run, calls: [CALL] }) },
    methods: {
      'ai.runs.start': async () => ({ executionId: 'run-2' }),
      'ai.runs.cancel': async (_actor: unknown, { executionId }: { executionId: string }) => {
        cancelled.push(executionId);
        return 'cancelled';
      },
    },
    loop: { getExecutionContext: () => (live === undefined ? undefined : context) },
    models: { resolve: async () => ({ providerId: 'openai', address: 'openai' }) },
    tools: { tools: [] },
  };
  return { chats: new Chats(ports as unknown as ChatsPorts), cancelled };
}
