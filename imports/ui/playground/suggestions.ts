/** Example prompts for the registered tools. */
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';

export interface Suggestion {
  readonly label: string;
  readonly prompt: string;
  readonly tools: readonly string[];
}

const SUGGESTIONS: readonly Suggestion[] = [
  { label: 'Weather in two cities', prompt: 'What is the weather in Lisbon and Oslo?', tools: ['get_weather'] },
  {
    label: 'Research in the background',
    prompt: 'What time is it, and research_topic "tiny boats" with get_time.',
    tools: ['get_time', 'research_topic'],
  },
  { label: 'Tool that needs approval', prompt: 'Please send_reminder "water the plants".', tools: ['send_reminder'] },
  {
    label: 'All tools at once',
    prompt:
      'Use get_weather for Lisbon, send_reminder "take a coat", research_topic "harbour fog", render_video "fog over a harbour" 20 seconds, consult_expert "Is it safe to sail?"',
    tools: ['get_weather', 'send_reminder', 'research_topic', 'render_video', 'consult_expert'],
  },
];

/** The suggestions whose tools are all registered, and one that needs none. */
export function suggestionsFor(tools: readonly ToolSummary[]): readonly Suggestion[] {
  const names = new Set(tools.map((tool) => tool.name));
  return [
    { label: 'No tools', prompt: 'Tell me about meteors.', tools: [] },
    ...SUGGESTIONS.filter((suggestion) => suggestion.tools.every((name) => names.has(name))),
  ];
}
