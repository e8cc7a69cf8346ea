/**
 * Scores phrases that are common in attempts to override a model's instructions, in what users and tools say and in
 * what is said of tools. These are heuristics: they miss attempts, and may object to harmless text about them.
 */
import type { Guardrail } from '../../ai/domain/interfaces/Guardrail';
import type { PromptInjectionSettings } from '../../ai/domain/types/GuardrailSettings';
import type { InputItem } from '../../ai/domain/types/ResponsesAPITypes';
import { canonicalJson } from '../../ai/domain/util/canonicalJson';
import { mapStrings } from './mapStrings';

export const DEFAULT_INJECTION_THRESHOLD = 5;

interface Signal {
  readonly name: string;
  readonly score: number;
  readonly pattern: RegExp;
}

const SIGNALS: readonly Signal[] = [
  {
    name: 'ignore-instructions',
    score: 5,
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:all|any|the|your|my|of|these|those|previous|prior|above|earlier|preceding|system|safety)\s+){1,6}(?:instructions?|prompts?|rules?|guidelines?|directives?|policies|messages?)\b/i,
  },
  {
    name: 'reveal-prompt',
    score: 4,
    pattern:
      /\b(?:reveal|show|print|output|repeat|display|leak|tell\s+me)\s+(?:me\s+)?(?:(?:your|the|all|full|entire|exact|hidden|initial|original|above)\s+){1,5}(?:system\s+)?(?:prompt|instructions?|system\s+message)\b/i,
  },
  {
    name: 'new-instructions',
    score: 3,
    pattern: /\b(?:new|updated|real|actual)\s+(?:system\s+)?instructions?\s*(?::|are\b|follow\b)/i,
  },
  {
    name: 'role-change',
    score: 3,
    pattern: /\b(?:you\s+are\s+now|from\s+now\s+on,?\s+you|pretend\s+(?:to\s+be|that\s+you)|act\s+as\s+if\s+you)\b/i,
  },
  {
    name: 'no-restrictions',
    score: 3,
    pattern:
      /\b(?:jailbreak|DAN\s+mode|developer\s+mode|do\s+anything\s+now|(?:without|no|free\s+of)\s+(?:any\s+)?(?:restrictions?|limitations?|filters?|censorship))\b/i,
  },
  {
    name: 'fake-role',
    score: 4,
    pattern:
      /<\|?(?:im_start|im_end|system|endoftext)\|?>|\[\/?INST\]|<<\/?SYS>>|^#{2,}\s*(?:system|instruction)s?\b/im,
  },
  {
    name: 'conceal',
    score: 3,
    pattern:
      /\b(?:do\s+not|don['’]t|never)\s+(?:tell|inform|mention\s+(?:this\s+)?to|alert|notify)\s+(?:the\s+)?(?:user|human|anyone)\b/i,
  },
];

export function promptInjection({
  action = 'deny',
  threshold = DEFAULT_INJECTION_THRESHOLD,
}: PromptInjectionSettings): Guardrail {
  return {
    name: 'prompt-injection',
    version: canonicalJson({ action, threshold }),
    async before({ input, tools }) {
      const found = new Set<Signal>();
      const look = (text: string): string => {
        for (const signal of SIGNALS) if (signal.pattern.test(text)) found.add(signal);
        return text;
      };
      for (const item of input) if (isUntrusted(item)) await mapStrings(item, look, look);
      // Servers and clients of others describe them.
      await mapStrings({ tools }, look, look);
      const score = [...found].reduce((sum, signal) => sum + signal.score, 0);
      if (score < threshold) return undefined;
      const annotate = { score, signals: [...found].map(({ name }) => name) };
      return action === 'annotate'
        ? { annotate }
        : { annotate, deny: 'It looks like an attempt to override the instructions of the model.' };
    },
  };
}

/** What the application itself has written is trusted, and so is what the model has. */
function isUntrusted(item: InputItem): boolean {
  return item.type === 'message' ? item.role === 'user' : /_output$|_tools$/.test(item.type);
}
