/** What seeded runs are about, who makes them, and with which models and tools. */
import { capabilitiesOf } from '../../imports/business/ai/infrastructure/vendors/capabilities';
import type { VendorName } from '../../imports/business/ai/domain/types/VendorTypes';

export const USERS = [
  'ada',
  'grace',
  'alan',
  'barbara',
  'edsger',
  'frances',
  'john',
  'katherine',
  'ken',
  'margaret',
  'niklaus',
  'radia',
  '李雷',
  'O’Brien <script>',
  'support-bot',
  'nightly-report',
] as const;

interface SeededModel {
  readonly providerId: string;
  readonly vendor: VendorName;
  readonly model: string;
}

/** The most used first. The last one has no list price. */
export const MODELS: readonly SeededModel[] = [
  { providerId: 'openai', vendor: 'openai', model: 'gpt-5.4-mini' },
  { providerId: 'anthropic', vendor: 'anthropic', model: 'claude-sonnet-4-5' },
  { providerId: 'openai', vendor: 'openai', model: 'gpt-6-sol' },
  { providerId: 'google', vendor: 'google', model: 'gemini-2.5-flash' },
  { providerId: 'anthropic', vendor: 'anthropic', model: 'claude-haiku-4-5' },
  { providerId: 'grok', vendor: 'grok', model: 'grok-4' },
  { providerId: 'llama', vendor: 'llama', model: 'house-finetune-7b' },
];

export function listedPrice({ vendor, model }: SeededModel): ReturnType<typeof capabilitiesOf>['price'] {
  return capabilitiesOf(vendor, model).price;
}

/** `#` is replaced by a number. */
export const QUESTIONS = [
  'What is the weather in city # tomorrow?',
  'Summarise ticket #',
  'Refund order #',
  'Refund order # in full, although the deadline has passed, and write to the customer',
  'Draft an answer to complaint #',
  'Compare offers # and find the cheapest',
  'Übersetze Abschnitt # ins Deutsche',
  'לסכם את פנייה #',
  'Plan the release of version #',
  'Why did job # fail?',
  'Classify e-mail #',
  '**Report #** with <b>bold</b> text, a | pipe and `code`',
] as const;

export const TOOLS = [
  { name: 'get_weather', blocking: true, argumentsOf: (n: number): object => ({ city: `City ${n}` }) },
  { name: 'get_time', blocking: true, argumentsOf: (): object => ({ timezone: 'Europe/Lisbon' }) },
  { name: 'research_topic', blocking: false, argumentsOf: (n: number): object => ({ topic: `Subject ${n}` }) },
  { name: 'send_reminder', blocking: true, argumentsOf: (n: number): object => ({ text: `Call customer ${n}` }) },
  { name: 'render_video', blocking: false, argumentsOf: (n: number): object => ({ scene: `Scene ${n}`, seconds: 5 }) },
  { name: 'consult_expert', blocking: false, argumentsOf: (n: number): object => ({ question: `Is ${n} enough?` }) },
] as const;
