/**
 * Adds found tools to a conversation by their names: all definitions are sent with each request, and those that are
 * deferred are no part of the prompt until a result of a tool, or a system message, refers to them.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool#custom-tool-search-implementation,
 * …/build-with-claude/mid-conversation-system-messages
 */
import type { FunctionTool } from '../../../domain/entities/Tool';
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';
import type { FoundToolsForm } from '../shared/foundTools';
import type { AnthropicModelFeatures } from './modelFeatures';

/** @returns undefined for a model that does not know such tools */
export function anthropicFoundTools({
  supportsDeferredTools,
  supportsSystemMessages,
}: AnthropicModelFeatures): FoundToolsForm | undefined {
  if (!supportsDeferredTools) return undefined;
  return supportsSystemMessages ? WITH_ADDITIONS : BY_RESULTS;
}

const WITH_ADDITIONS: FoundToolsForm = {
  list: (listed, findable) => [...listed, ...findable.map(deferred)],
  writeResult,
  announce,
  announcesGuesses: true,
};

/** What was called without a search has no result that could refer to it, and is listed like any other tool. */
const BY_RESULTS: FoundToolsForm = {
  list: (listed, findable, guessed) => [
    ...listed,
    ...findable.filter(({ name }) => guessed.has(name)),
    ...findable.filter(({ name }) => !guessed.has(name)).map(deferred),
  ],
  writeResult,
  announcesGuesses: true,
};

/** Tools are immutable and offered again with every turn, so each is changed once. */
const deferredTools = new WeakMap<FunctionTool, FunctionTool>();

function deferred(tool: FunctionTool): FunctionTool {
  const known = deferredTools.get(tool);
  if (known !== undefined) return known;
  const fields = { ...tool.vendor?.anthropic, defer_loading: true };
  const changed = { ...tool, vendor: { ...tool.vendor, anthropic: fields } };
  deferredTools.set(tool, changed);
  return changed;
}

function writeResult(
  output: Parameters<NonNullable<FoundToolsForm['writeResult']>>[0],
  found: readonly FunctionTool[],
): InputItem {
  const content = found.map(({ name }) => ({ type: 'tool_reference', tool_name: name }));
  return { ...output, vendor: { ...output.vendor, anthropic: { ...output.vendor?.anthropic, content } } };
}

function announce(tools: readonly FunctionTool[]): InputItem {
  const content = tools.map(({ name }) => {
    const block = { type: 'tool_addition', tool: { type: 'tool_reference', name } };
    return { type: 'input_text', text: name, vendor: { anthropic: { block } } } as const;
  });
  return { type: 'message', role: 'developer', content };
}
