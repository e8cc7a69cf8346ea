import { isFinished } from '../../business/ai/domain/entities/Run';
import { ConflictError } from '../../business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../business/ai/domain/interfaces/RunStore';
import type { RunMethods } from '../../business/ai/application/operations/runCommandOperations';
import type { Actor } from '../../business/ai/domain/types/Actor';
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import type { MessageTime } from '../../business/ai/domain/types/RunMessages';

interface SentMessage {
  readonly executionId: string;
  readonly message: LLMInput;
  readonly messageId: string;
  readonly when: MessageTime;
}

export interface SendToRunPorts {
  readonly methods: Pick<RunMethods, 'ai.runs.send'>;
  readonly runs: Pick<RunStore, 'load'>;
}

/**
 * Sends a run a message that another run answers if this one has ended.
 * @returns whether the run has not ended
 * @throws ConflictError if the run takes no more messages
 */
export async function sendToRun(
  { methods, runs }: SendToRunPorts,
  actor: Actor,
  message: SentMessage,
): Promise<boolean> {
  try {
    await methods['ai.runs.send'](actor, message);
    return true;
  } catch (error) {
    const stored = error instanceof ConflictError ? await runs.load(message.executionId) : undefined;
    if (stored !== undefined && isFinished(stored.run.state)) return false;
    throw error;
  }
}
