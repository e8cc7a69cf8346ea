/** Why a run waits for tools, and how the wait ends. */
import type { AwaitedTools } from '../../business/ai/domain/types/RunViews';

export function explainAwaitedTools({ names }: Pick<AwaitedTools, 'names'>): string {
  return `The run waits for a server that has the tools it needs: ${names.join(', ')}. If none comes for a while, it goes on without them, and calls of them fail.`;
}
