/** What a turn's prompt begins with, in a form that says whether the one of another turn is the same. */
import { createHash } from 'node:crypto';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { PromptHashes } from '../../ai/domain/types/RequestRecords';

/** Long enough to tell apart the prompts of one run. */
const LENGTH = 12;

/** The tools of a run's turns are the same list until they change. */
const hashesOfTools = new WeakMap<object, string>();

/** Tools that the model finds are told of in the conversation, and its beginning stays the same. */
export function promptHashes({
  tools = [],
  findableTools,
  instructions = '',
}: Pick<GenerateOptions, 'tools' | 'findableTools' | 'instructions'>): PromptHashes {
  let hash = hashesOfTools.get(tools);
  if (hash === undefined) {
    const found = new Set(findableTools?.tools.map(({ name }) => name));
    const listed = tools.filter((tool) => !('name' in tool) || !found.has(String(tool.name)));
    hash = hashOf(JSON.stringify(listed));
    hashesOfTools.set(tools, hash);
  }
  return { tools: hash, instructions: hashOf(instructions) };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, LENGTH);
}
