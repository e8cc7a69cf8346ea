/**
 * What can change behind an open page. A page reloads its queries when one of their topics changes; the notification
 * itself holds no data.
 */
export const TOPICS = [
  'runs',
  'calls',
  'requests',
  'providers',
  'tokens',
  'budgets',
  'queue',
  'prompts',
  'routing',
  'mcpServers',
  'memories',
  'audit',
] as const;

export type Topic = (typeof TOPICS)[number];
