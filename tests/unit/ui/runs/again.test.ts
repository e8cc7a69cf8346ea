import { expect } from 'chai';
import type { RunExport } from '../../../../imports/business/ai/domain/types/RunExport';
import type { Item } from '../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { NO_USAGE } from '../../../../imports/business/ai/domain/entities/Response';
import { draftOf, lostParts, toStartRequest } from '../../../../imports/ui/runs/again';
import { callItem, textItem } from '../../../../imports/testing/responses';
import { callOutput } from '../records';

const user = (text: string): Item => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const INPUT = [user('Earlier'), textItem('Yes?'), user('Weather in Oslo')];
const TRANSCRIPT = [...INPUT, callItem({ name: 'w', call_id: 'a' }), callOutput('a'), textItem('Sunny')];

function exported(plan: Partial<RunExport['plan']> = {}): RunExport {
  return {
    format: 'bolide.run',
    version: 1,
    exportedAt: 1,
    run: {
      executionId: 'r',
      userId: 'ann',
      requestId: 'q',
      source: 'http',
      providerId: 'openai',
      model: 'gpt',
      title: 't',
      createdAt: 1,
      state: 'completed',
      iterations: 2,
      usage: NO_USAGE,
    },
    plan: {
      options: { model: 'openai/gpt', instructions: 'Be brief.', temperature: 0.5 },
      tools: ['w'],
      limits: { maxIterations: 10, maxToolErrors: 3, maxParallelTools: 4, runTimeout: 1 },
      stream: true,
      ...plan,
    },
    input: INPUT,
    transcript: TRANSCRIPT,
    calls: [],
    requests: [],
  };
}

describe('A run that is started again', () => {
  const run = exported();

  it('has the settings of the first, and its input unless the prompt is changed', () => {
    expect(toStartRequest(run, draftOf(run), { requestId: 'n' })).to.deep.equal({
      requestId: 'n',
      providerId: 'openai',
      model: 'gpt',
      forkOf: { executionId: 'r', turn: 1 },
      metadata: { startedFrom: 'r' },
      tools: ['w'],
      instructions: 'Be brief.',
      temperature: 0.5,
      maxIterations: 10,
    });
  });

  it('keeps its history as the first did, in what clients may say of it', () => {
    const requestOf = (compaction: NonNullable<RunExport['plan']['compaction']>) =>
      toStartRequest(exported({ compaction }), draftOf(run), { requestId: 'n' }).compaction;
    expect(requestOf(false)).to.equal(false);
    expect(requestOf({ strategy: 'vendor', window: 9_000, threshold: 0.5, model: 'm', pinned: [0] })).to.deep.equal({
      strategy: 'vendor',
      window: 9_000,
      threshold: 0.5,
    });
    expect(requestOf({})).to.deep.equal({});
  });

  it('replaces only the last message of the user', () => {
    const draft = { ...draftOf(run), prompt: 'Weather in Rome', model: ' other ', temperature: '' };
    const request = toStartRequest(run, draft, { requestId: 'n' });
    expect(request).to.deep.include({
      input: [...INPUT.slice(0, 2), user('Weather in Rome')],
      startedFrom: 'r',
      model: 'other',
    });
    expect(request).not.to.have.any.keys('forkOf', 'temperature');
  });

  it('starts from what came before a turn, with a message if one is added', () => {
    const draft = draftOf(run, 2);
    expect(draft.prompt).to.equal('');
    const forked = toStartRequest(run, draft, { requestId: 'n', turn: 2 });
    expect(forked).to.deep.include({
      forkOf: { executionId: 'r', turn: 2 },
      metadata: { startedFrom: 'r', fromTurn: 2 },
    });
    expect(forked).not.to.have.property('input');
    const added = toStartRequest(run, { ...draft, prompt: 'In Celsius' }, { requestId: 'n', turn: 2 });
    expect(added).to.deep.include({ forkOf: { executionId: 'r', turn: 2 }, input: 'In Celsius' });
  });

  it('names what cannot be carried over', () => {
    const plan = {
      ...run.plan,
      options: { ...run.plan.options, top_p: 0.3, response_format: { type: 'json_object' } } as const,
      tools: ['w', { type: 'web_search' } as const],
    };
    expect(lostParts(run)).to.deep.equal([]);
    expect(lostParts(exported(plan))).to.deep.equal(['the server tool web_search', 'top p', 'the response format']);
  });
});
