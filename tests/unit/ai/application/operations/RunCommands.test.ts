/** Who may decide about tool calls, and what is said about who did. */
import { expect } from 'chai';
import { RUN_OPERATIONS } from '../../../../../imports/business/ai/application/operations/runCommandOperations';
import type { RunMethods } from '../../../../../imports/business/ai/application/operations/runCommandOperations';
import { RunCommands } from '../../../../../imports/business/ai/application/operations/RunCommands';
import type {
  RunCommandPorts,
  RunControl,
} from '../../../../../imports/business/ai/application/operations/RunCommands';
import { UnknownRunError } from '../../../../../imports/business/ai/application/operations/runAccess';
import { LLMPermissionError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { InputRequest, ToolCall, ToolCallState } from '../../../../../imports/business/ai/domain/entities/Tool';
import type { Actor } from '../../../../../imports/business/ai/domain/types/Actor';
import { omitUndefined } from '../../../../../imports/business/ai/domain/util/omitUndefined';
import { bindOperations } from '../../../../../imports/host/bindOperations';
import { failure } from '../../../../support/failure';

const CALL = { executionId: 'r', callId: 'c' };
const DECISION = { ...CALL, argumentsHash: 'a'.repeat(64) };

function operations(state: ToolCallState, input?: InputRequest): { methods: RunMethods; decisions: unknown[] } {
  const decisions: unknown[] = [];
  const control: RunControl = {
    cancel: () => 'cancelled',
    resumeParked: () => 'running',
    approve: (_executionId, _callId, _hash, by) => (decisions.push(by), 'executing'),
    rerun: (_executionId, _callId, _startTime, _hash, by) => (decisions.push(by), 'executing'),
    reject: (_executionId, _callId, _reason, _hash, by) => (decisions.push(by), 'failed'),
    submitToolResult: (_executionId, _callId, _result, by) => (decisions.push(by), 'accepted'),
    callOf: () => omitUndefined({ state, input }) as ToolCall,
    signal: () => 'accepted',
    send: () => ({ messageId: 'm', result: 'accepted' }),
    editMessage: () => undefined,
    withdrawMessage: () => undefined,
    queuedMessages: () => [],
  };
  const unused = { execute: () => Promise.reject(new Error('not called')) };
  const ports = {
    useCases: {
      generateText: unused,
      generateJSON: unused,
      agenticExecution: { ...unused, start: unused.execute },
      embed: unused,
    },
    control,
    ownerOf: () => Promise.resolve('ann'),
  } as RunCommandPorts;
  return { methods: bindOperations(RUN_OPERATIONS, { runCommands: new RunCommands(ports) }), decisions };
}

const decide = (methods: RunMethods, actor: Actor): readonly (() => Promise<unknown>)[] => [
  () => methods['ai.runs.approve'](actor, DECISION),
  () => methods['ai.runs.approve'](actor, { ...DECISION, startTime: 1 }),
  () => methods['ai.runs.reject'](actor, DECISION),
  () => methods['ai.runs.submitToolResult'](actor, { ...CALL, output: 1 }),
];

describe('decisions about tool calls', () => {
  it('are refused to an actor who may not decide', async () => {
    const { methods, decisions } = operations('needs_review');
    for (const attempt of decide(methods, { userId: 'ann', source: 'http', mayDecide: false }))
      expect(await attempt().catch((error: unknown) => error)).to.be.instanceOf(LLMPermissionError);
    expect(decisions).to.deep.equal([]);
  });

  it('are outcomes of calls whose tools ask for a confirmation, but not answers with values', async () => {
    const actor: Actor = { userId: 'ann', source: 'http', mayDecide: false };
    const question = { id: 'q', message: 'Outside?' };
    const { methods } = operations('executing', question);
    const submitted = { ...CALL, output: {} };
    expect(await failure(methods['ai.runs.submitToolResult'](actor, submitted))).to.be.instanceOf(LLMPermissionError);
    const form = operations('executing', { ...question, schema: { type: 'object' } });
    expect(await form.methods['ai.runs.submitToolResult'](actor, submitted)).to.include({ result: 'accepted' });
  });

  it('are no results of external tools, which such an actor submits', async () => {
    const { methods, decisions } = operations('executing');
    const actor: Actor = { userId: 'ann', source: 'http', mayDecide: false };
    expect(await methods['ai.runs.submitToolResult'](actor, { ...CALL, output: 1 })).to.include({ result: 'accepted' });
    expect(decisions).to.have.length(1);
  });

  it('name who made them, with what, and when', async () => {
    const { methods, decisions } = operations('needs_review');
    const before = Date.now();
    for (const attempt of decide(methods, { userId: 'ann', source: 'http', tokenId: 't' })) await attempt();
    expect(decisions).to.have.length(4);
    for (const by of decisions as { at: number }[]) {
      expect(by).to.include({ userId: 'ann', tokenId: 't' });
      expect(by.at).to.be.within(before, Date.now());
    }
  });
});

describe('ai.runs.cancel of a message whose turn has not come', () => {
  it('is for its user and admins, and changes nothing for others', async () => {
    const cancelled: string[] = [];
    const ports = {
      control: {},
      ownerOf: () => Promise.resolve(undefined),
      messages: {
        userOf: (id: string) => Promise.resolve(id === 'message' ? 'ann' : undefined),
        cancel: (id: string) => Promise.resolve(void cancelled.push(id)),
      },
    } as unknown as RunCommandPorts;
    const { 'ai.runs.cancel': cancel } = bindOperations(RUN_OPERATIONS, { runCommands: new RunCommands(ports) });
    const executionId = 'message';
    expect(await cancel({ userId: 'ann', source: 'http' }, { executionId })).to.equal('cancelled');
    expect(await cancel({ userId: 'root', source: 'http', isAdmin: true }, { executionId })).to.equal('cancelled');
    for (const [userId, id] of [
      ['bob', 'message'],
      ['ann', 'nothing'],
    ] as const)
      expect(await failure(cancel({ userId, source: 'http' }, { executionId: id }))).to.be.instanceOf(UnknownRunError);
    expect(cancelled).to.deep.equal(['message', 'message']);
  });
});
