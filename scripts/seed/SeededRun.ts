/** Invents runs with their tool calls: the same ones for the same seed. */
import { assistantMessage, userMessage } from '../../imports/business/ai/domain/entities/Message';
import { costOf } from '../../imports/business/ai/domain/entities/CallCost';
import { addUsage, NO_USAGE } from '../../imports/business/ai/domain/entities/Response';
import type { RunState } from '../../imports/business/ai/domain/entities/Run';
import { applyToolEvent, createToolCall } from '../../imports/business/ai/domain/entities/Tool';
import type { ToolCall, ToolEvent } from '../../imports/business/ai/domain/entities/Tool';
import type { Item, Usage } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { RunProgress, RunRequest } from '../../imports/business/ai/domain/types/RunRecords';
import { listedPrice, MODELS, QUESTIONS, TOOLS, USERS } from './vocabulary';

/** A model call of a run. */
export interface SeededTurn {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly duration: number;
  readonly timeToFirstToken: number;
  readonly usage: Usage;
  readonly cost?: number;
  readonly hasFailed: boolean;
}

export interface SeededRun {
  readonly request: RunRequest;
  readonly progress: RunProgress;
  readonly calls: readonly ToolCall[];
  readonly turns: readonly SeededTurn[];
}

export interface SeededRunOptions {
  readonly index: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** When the wait of a run that waits ends, in milliseconds since the epoch. Absent: the run has ended. */
  readonly waitsUntil?: number;
}

/** @param random returns numbers from 0 to 1; the run depends on nothing else */
export function seededRun(random: () => number, { index, createdAt, waitsUntil }: SeededRunOptions): SeededRun {
  const isWaiting = waitsUntil !== undefined;
  // A skew above 1 prefers the first ones.
  const pick = <T>(list: readonly T[], skew = 1): T => {
    const picked = list[Math.floor(random() ** skew * list.length)];
    if (picked === undefined) throw new Error('Nothing to pick from.');
    return picked;
  };
  const between = (least: number, greatest: number): number => Math.round(least + random() * (greatest - least));
  const executionId = `seed-${index}`;
  const userId = pick(USERS, 2.5);
  const served = pick(MODELS, 1.6);
  const { providerId, model } = served;
  const question = pick(QUESTIONS).replaceAll('#', `${between(1, 9_999)}`);
  const state: RunState = isWaiting ? 'waiting' : pick(OUTCOMES);
  const request: RunRequest = {
    executionId,
    userId,
    requestId: executionId,
    argumentsHash: executionId,
    source: pick(['http', 'job']),
    providerId,
    model,
    title: question,
    ...(random() < 0.2 ? { tags: [pick(TAGS)] } : {}),
    ...(random() < 0.3 ? { conversationId: `conversation-${between(1, 5_000)}` } : {}),
    createdAt,
    input: [userMessage(question)],
    plan: {
      options: { model: `${providerId}/${model}` },
      tools: TOOLS.map(({ name }) => name),
      limits: { maxIterations: 10, maxToolErrors: 3, maxParallelTools: 8, runTimeout: 600_000 },
      stream: true,
    },
  };

  const price = listedPrice(served);
  const turns: SeededTurn[] = [];
  const calls: ToolCall[] = [];
  const transcript: Item[] = [...request.input];
  let at = createdAt + between(1, 50);
  const iterations = isWaiting ? 1 : pick([1, 1, 2, 2, 3, 5]);
  for (let turn = 1; turn <= iterations; turn += 1) {
    const duration = Math.round(400 * Math.exp(random() * 3.2));
    const input = between(300, 4_000) * turn;
    const cached = turn === 1 ? 0 : Math.floor(input * 0.6);
    const output = between(20, 900);
    const usage: Usage = {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: Math.floor(output * 0.3) },
    };
    turns.push({
      at,
      duration,
      timeToFirstToken: Math.round(duration * (0.1 + random() * 0.3)),
      usage,
      ...(price === undefined ? {} : { cost: costOf(usage, price) }),
      hasFailed: state === 'failed' && turn === iterations,
    });
    at += duration;
    const callsTool = isWaiting || turn < iterations;
    if (!callsTool) continue;
    const tool = isWaiting ? pick(WAITING_TOOLS) : pick(TOOLS, 1.5);
    const fields = JSON.stringify(tool.argumentsOf(between(1, 999)));
    const callId = `call_${index}_${turn}`;
    let call = createToolCall({
      id: callId,
      call_id: callId,
      name: tool.name,
      arguments: fields,
      blocking: tool.blocking,
      createdAt: at,
    });
    transcript.push({
      type: 'function_call',
      call_id: callId,
      name: tool.name,
      arguments: fields,
      status: 'completed',
    });
    if (isWaiting) for (const event of waitEvents(tool.name, at, waitsUntil)) call = applyToolEvent(call, event);
    else {
      call = applyToolEvent(call, { type: 'tool:executing', at });
      at += between(5, 2_000);
      const hasFailed = random() < 0.06;
      const error = { failure: 'threw', message: 'The service did not respond.' } as const;
      const result = JSON.stringify({ done: true, reference: between(1, 1e6) });
      call = applyToolEvent(
        call,
        hasFailed ? { type: 'tool:failed', at, error } : { type: 'tool:completed', at, result },
      );
      call = applyToolEvent(call, { type: 'tool:delivered', at, responseId: `resp_${index}_${turn}` });
      transcript.push({
        type: 'function_call_output',
        call_id: callId,
        output: hasFailed ? error.message : result,
      });
    }
    calls.push(call);
  }
  const turnStart = transcript.length;
  if (state === 'completed')
    transcript.push(assistantMessage(`About "${question}": it is done. `.repeat(between(1, 8))));
  const costs = turns.map(({ cost }) => cost);
  return {
    request,
    turns,
    calls,
    progress: {
      state,
      startedAt: createdAt,
      ...(state === 'waiting' ? {} : { endedAt: at }),
      iterations,
      isCalling: false,
      usage: turns.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
      ...(costs.includes(undefined)
        ? { unpriced: { calls: costs.length, models: [model], reasons: [`no price for model "${model}"`] } }
        : { cost: costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0) }),
      models: [model],
      ...(calls.length === 0 ? {} : { tools: [...new Set(calls.map(({ name }) => name))] }),
      ...(state === 'failed' ? { error: pick(ERRORS) } : {}),
      transcript,
      turnStart,
      failedTurns: 0,
      worked: at - createdAt,
      seq: iterations * 6,
      takeovers: 0,
    },
  };
}

/** An approval, a review or a result from outside, by the tool. */
function waitEvents(tool: string, at: number, expiresAt: number): readonly ToolEvent[] {
  if (tool === 'send_reminder') return [{ type: 'tool:approval_required', at, expiresAt }];
  if (tool === 'render_video')
    return [
      { type: 'tool:executing', at },
      { type: 'tool:needs_review', at, expiresAt },
    ];
  return [{ type: 'tool:executing', at, expiresAt }];
}

const OUTCOMES: readonly RunState[] = [
  ...Array.from({ length: 17 }, () => 'completed' as const),
  'failed',
  'failed',
  'cancelled',
];

const TAGS = ['urgent', 'beta', 'customer 17', 'to check'] as const;

const WAITING_TOOLS = [TOOLS[3], TOOLS[4], TOOLS[5]] as const;

const ERRORS = [
  { code: 'rate-limited', message: 'Too many requests. Retry later.', retryable: true },
  { code: 'timeout', message: 'The model did not respond in time.', retryable: true },
  { code: 'vendor-error', message: 'The provider failed.', retryable: true },
  { code: 'context-too-long', message: 'The input is longer than the model allows.', retryable: false },
] as const;
