/** Chooses the offered tools that a text asks for: those it names, or else those that it shares words with. */
import type { ToolDefinition } from './Conversation';

export function chooseTools(text: string, tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const words = wordsIn(text);
  const named = tools.filter((tool) => isNamed(text, tool));
  return named.length > 0 ? named : tools.filter((tool) => sharesWords(words, tool));
}

function isNamed(text: string, tool: ToolDefinition): boolean {
  const escaped = tool.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, tool.name.length > 3 ? 'i' : '').test(text);
}

/** One significant word of the name, or two of the description. */
function sharesWords(words: ReadonlySet<string>, tool: ToolDefinition): boolean {
  if ([...wordsIn(tool.name.replace(/([a-z])([A-Z])/g, '$1 $2'))].some((word) => words.has(word))) return true;
  return [...wordsIn(tool.description)].filter((word) => words.has(word)).length >= 2;
}

function wordsIn(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().split(/[^\p{L}\d]+/u);
  return new Set(words.filter((word) => word.length > 2 && !COMMON.has(word)).map(stem));
}

/** Maps plural and singular to the same word. */
function stem(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

const COMMON: ReadonlySet<string> = new Set(
  `the and for are was were you your what which who whom how why when where with from into this that these those then than can could would should will
  shall may might must have has had does did not but all any some its his her our their there here get set run use call tool tools function please give
  tell show make let new one two about returns return given current`.split(/\s+/),
);
