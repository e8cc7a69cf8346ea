/** Lets a tool that runs ask a person, whose answer may take a day and come when another process has the call. */
import { randomUUID } from 'node:crypto';
import type { GivenAnswer, InputRequest } from '../../../domain/entities/Tool';
import type { InputAnswer, ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import { isObject } from '../../../domain/util/json';
import type { WorkInProgress } from './WorkInProgress';
import { canonicalJson } from '../../../domain/util/canonicalJson';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { DECISION_LIFETIME_MS } from './decisions';
import type { Review } from './decisions';
import { valuesOf } from './inputValues';
import type { ToolCallHandle, ToolCallOutcome } from './ToolCallOutcome';

export interface AskingJob extends ToolCallHandle {
  /**
   * Resolves when a person answers what the tool asks. Absent where nobody can.
   * @param lifetimeMs after which the answer is no
   */
  awaitInput?(lifetimeMs: number): Promise<Review>;
}

/** Characters. */
const MAX_MESSAGE = 4_000;
const MAX_RECORDED = 16 * 1024;

export function inputRequester(
  job: AskingJob,
  outcome: ToolCallOutcome,
  work: WorkInProgress,
): NonNullable<ToolCallContext['requestInput']> {
  let last: Promise<unknown> | undefined;
  let isFirst = true;
  let lastExpiry = job.call.answers?.at(-1)?.expiresAt ?? 0;
  return (request) => {
    const answer = (last ?? Promise.resolve()).then(() => {
      const restored = isFirst ? restoredInput(job, request) : undefined;
      isFirst = false;
      const pending = restored ?? {
        input: { id: randomUUID(), ...toInput(request) },
        // Readers order questions by it, and the clock may have been set, or another process's have been ahead.
        expiresAt: Math.max(Date.now() + DECISION_LIFETIME_MS, lastExpiry),
      };
      lastExpiry = pending.expiresAt;
      return ask(job, outcome, work, pending, restored !== undefined);
    });
    last = answer.catch(() => undefined);
    return answer;
  };
}

interface PendingInput {
  readonly input: InputRequest;
  readonly expiresAt: number;
}

/** What an earlier process has asked already. */
function restoredInput({ call }: AskingJob, request: Omit<InputRequest, 'id'>): PendingInput | undefined {
  if (call.state !== 'executing' || call.input === undefined || call.expiresAt === undefined) return undefined;
  const { input, expiresAt } = call;
  return canonicalJson(input) === canonicalJson({ ...toInput(request), id: input.id })
    ? { input, expiresAt }
    : undefined;
}

async function ask(
  job: AskingJob,
  outcome: ToolCallOutcome,
  work: WorkInProgress,
  pending: PendingInput,
  isRestored: boolean,
): Promise<InputAnswer> {
  if (job.awaitInput === undefined || !outcome.isOpen()) return NOBODY;
  const at = Date.now();
  if (!isRestored) job.report({ type: 'tool:input_required', at, ...pending });
  outcome.pauseTimeout();
  work.endTool(outcome);
  const over = new Promise<undefined>((resolve) => outcome.onSettled(() => resolve(undefined)));
  const review = await Promise.race([job.awaitInput(pending.expiresAt - at), over]);
  if (review === undefined || !outcome.isOpen()) return NOBODY;
  const answer = toAnswer(review, pending.input);
  job.report({ type: 'tool:input_received', at: Date.now(), answer: toGiven(answer) });
  work.beginTool(outcome);
  outcome.resumeTimeout();
  return answer;
}

/** Returns the answer as the call keeps it. */
export function toGiven(answer: InputAnswer): GivenAnswer {
  if (answer.action === 'decline') return answer;
  const values = JSON.stringify(answer.values);
  return { action: 'accept', values: values.slice(0, MAX_RECORDED).toWellFormed() };
}

const NOBODY: InputAnswer = { action: 'decline', reason: 'Nobody can answer.' };

function toInput({ message, schema, url }: Omit<InputRequest, 'id'>): Omit<InputRequest, 'id'> {
  return omitUndefined({ message: message.slice(0, MAX_MESSAGE).toWellFormed(), schema, url });
}

/** Returns what the tool receives. */
export function toAnswer(review: Review, { schema }: InputRequest): InputAnswer {
  if ('error' in review) return { action: 'decline', reason: review.error };
  if ('approved' in review && !review.approved) return { action: 'decline', reason: review.reason };
  const given = 'output' in review ? review.output : {};
  const values = valuesOf(schema, given);
  if (!isObject(values)) return { action: 'decline', reason: 'The answer is not an object.' };
  return { action: 'accept', values };
}
