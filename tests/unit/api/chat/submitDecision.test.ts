/** What a client's answer to a request for an approval decides, and what it does not. */
import { expect } from 'chai';
import { submitDecision } from '../../../../imports/api/chat/submitDecision';
import type { DecisionMethods } from '../../../../imports/api/chat/submitDecision';
import { argumentsHash } from '../../../../imports/business/ai/application/services/shared/argumentsHash';
import { applyToolEvent, createToolCall } from '../../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall, ToolEvent } from '../../../../imports/business/ai/domain/entities/Tool';
import { approvalIdOf } from '../../../../imports/interop/aiSdk/toolValues';

const HASH = argumentsHash('{}');
const STARTED = 12;

function callAfter(...events: readonly ToolEvent[]): ToolCall {
  const fields = { id: 'c', call_id: 'c', name: 'pay', arguments: '{}', blocking: true, createdAt: 10 };
  return events.reduce(applyToolEvent, createToolCall(fields));
}

const WAITING = callAfter({ type: 'tool:approval_required', at: 11 });
const UNDER_REVIEW = callAfter(
  { type: 'tool:approval_required', at: 11 },
  { type: 'tool:executing', at: STARTED },
  { type: 'tool:needs_review', at: 13 },
);

async function answer(call: ToolCall, id: string, approved: boolean) {
  const decided: unknown[] = [];
  const record =
    (name: string) =>
    (_actor: unknown, decision: unknown): Promise<never> => {
      decided.push([name, decision]);
      // Nobody reads what the operation returns.
      return Promise.resolve(undefined as never);
    };
  const methods: DecisionMethods = {
    'ai.runs.approve': record('approve'),
    'ai.runs.reject': record('reject'),
    'ai.runs.submitToolResult': record('submit'),
  };
  const isDecided = await submitDecision(
    methods,
    { userId: 'ann', source: 'http' },
    { executionId: 'r', call, isExternal: false },
    {
      toolCallId: 'c',
      toolName: 'pay',
      state: 'approval-responded',
      input: {},
      output: undefined,
      isPreliminary: false,
      approval: { id, approved },
    },
  );
  return { isDecided, decided };
}

describe('an answer to a request for an approval', () => {
  const named = { executionId: 'r', callId: 'c', argumentsHash: HASH };

  it('decides about the call with the arguments that were shown', async () => {
    const shown = approvalIdOf('c', HASH);
    expect(await answer(WAITING, shown, true)).to.deep.equal({ isDecided: true, decided: [['approve', named]] });
    expect(await answer(WAITING, shown, false)).to.deep.equal({ isDecided: true, decided: [['reject', named]] });
  });

  it('lets the attempt under review run again', async () => {
    expect(await answer(UNDER_REVIEW, approvalIdOf('c', STARTED), true)).to.deep.equal({
      isDecided: true,
      decided: [['approve', { ...named, startTime: STARTED }]],
    });
  });

  for (const [which, id] of [
    ['the first request', approvalIdOf('c', HASH)],
    ['the review of an earlier attempt', approvalIdOf('c', STARTED - 1)],
  ] as const)
    it(`decides nothing about a call under review if it answers ${which}`, async () => {
      for (const approved of [true, false])
        expect(await answer(UNDER_REVIEW, id, approved)).to.deep.equal({ isDecided: false, decided: [] });
    });
});
