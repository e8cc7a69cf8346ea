/** Token counts from the length of the texts, as rough as a model's and as steady. */
import type { Conversation, Turn } from './Conversation';
import { tokensIn } from './ModelTurn';
import type { ModelTurn, TokenCount } from './ModelTurn';

export function countTokens(conversation: Conversation, turn: ModelTurn): TokenCount {
  return {
    input: inputTokens(conversation),
    cached: 0,
    output: tokensIn(
      [turn.text ?? '', turn.refusal ?? '', ...turn.calls.map((call) => call.name + call.arguments)].join(''),
    ),
    reasoning: tokensIn(turn.reasoning ?? ''),
  };
}

export function inputTokens(conversation: Conversation): number {
  const tools = conversation.tools.map((tool) => tool.name + tool.description + JSON.stringify(tool.parameters));
  const wanted = conversation.wantedSchema === undefined ? '' : JSON.stringify(conversation.wantedSchema);
  return tokensIn([conversation.instructions, wanted, ...tools, ...conversation.turns.map(textOfTurn)].join(''));
}

function textOfTurn(turn: Turn): string {
  return turn.type === 'call' ? turn.name + turn.arguments : turn.text;
}
