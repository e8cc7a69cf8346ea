/** Deterministic token counts, estimated from the length of the texts. */
import type { Conversation, Turn } from './Conversation';
import { estimateTokens } from './ModelTurn';
import type { ModelTurn, TokenCount } from './ModelTurn';

export function countTokens(conversation: Conversation, turn: ModelTurn): TokenCount {
  return {
    input: countInputTokens(conversation),
    cached: 0,
    output: estimateTokens(
      [turn.text ?? '', turn.refusal ?? '', ...turn.calls.map((call) => call.name + call.arguments)].join(''),
    ),
    reasoning: estimateTokens(turn.reasoning ?? ''),
  };
}

export function countInputTokens(conversation: Conversation): number {
  const tools = conversation.tools.map((tool) => tool.name + tool.description + JSON.stringify(tool.parameters));
  const schema = conversation.outputSchema === undefined ? '' : JSON.stringify(conversation.outputSchema);
  return estimateTokens([conversation.instructions, schema, ...tools, ...conversation.turns.map(textOfTurn)].join(''));
}

function textOfTurn(turn: Turn): string {
  return turn.type === 'call' ? turn.name + turn.arguments : turn.text;
}
