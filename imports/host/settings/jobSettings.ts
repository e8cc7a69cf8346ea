/** How queued runs are distributed, and how long runs and conversations are kept. */
import type { JobSettings } from '../openJobQueue';
import { defineSettings, readSettings, setting } from './defineSettings';
import type { Setting, SettingSource, SettingsOf } from './defineSettings';
import { SettingProblems } from './SettingProblems';
import { choice, DAYS, integer, number, SECONDS, text } from './settingReaders';

const days = integer({ min: 0, unit: DAYS });

export const databaseSettings = defineSettings({
  mongoUrl: setting('MONGO_URL', text, 'none: the embedded database').means(
    'MongoDB to use instead. Needed for several processes.',
  ),
});

export const jobSettings = defineSettings({
  jobs: {
    engine: setting(
      'JOBS_ENGINE',
      choice(['agenda', 'local']),
      '`agenda` if `MONGO_URL` is set and the packages `agenda` and `@agendajs/mongo-backend` are installed, else `local`',
    ).means("What distributes queued runs: Agenda on MongoDB, or a queue in this process's memory."),
    concurrency: setting('JOBS_CONCURRENCY', integer({ min: 1 }), '`8`').means(
      'Queued runs at the same time in one process, with those that it takes over from lost processes.',
    ),
    concurrencyPerUser: setting('JOBS_CONCURRENCY_PER_USER', integer({ min: 1 }), 'no limit').means(
      'Queued runs of one user at the same time in all processes together.',
    ),
    retention: {
      compactAfter: setting('RUNS_KEEP_WHOLE_DAYS', days, '`7`').means(
        'Days after which a finished run is compacted to question, answer, usage and excerpts.',
      ),
      removeAfter: setting('RUNS_KEEP_DAYS', days, '`30`').means('Days after which a finished run is removed.'),
    },
    toolWaitMs: setting('RUNS_TOOL_WAIT_SECONDS', integer({ min: 0, unit: SECONDS }), '`600`').means(
      'How long a run waits for a process that [has its tools](../guides/durable-runs.md#runs-whose-tools-are-missing), before it goes on without them.',
    ),
  },
  contentTimes: {
    responses: contentTime('RESPONSES_KEEP_DAYS', 'Days without use after which a stored response is removed'),
    conversations: contentTime(
      'CONVERSATIONS_KEEP_DAYS',
      'Days without use after which a conversation of the Responses API is removed',
    ),
    messages: contentTime('MESSAGES_KEEP_DAYS', 'Days after which a message of `/api/input` is removed'),
    chats: contentTime('CHATS_KEEP_DAYS', 'Days after its last message after which a chat of the AI SDK is removed'),
  },
});

/** The most is what databases remove documents by themselves. */
function contentTime(name: string, meaning: string): Setting<number> {
  return setting(name, number({ min: 1, max: 30, unit: DAYS }), '`30`').means(`${meaning}: 1 to 30.`);
}

/** @throws LLMInvalidRequestError that names every invalid setting */
export function readJobSettings(valueOf: SettingSource): JobSettings {
  const problems = new SettingProblems();
  const { jobs } = readSettings(jobSettings, valueOf, problems);
  const { mongoUrl } = readSettings(databaseSettings, valueOf, problems);
  const settings = chooseQueue(jobs, mongoUrl, problems);
  problems.throwIfAny();
  return settings;
}

/** Without a choice, MONGO_URL makes it. */
export function chooseQueue(
  { engine, ...settings }: SettingsOf<typeof jobSettings>['jobs'],
  mongoUrl: string | undefined,
  problems: SettingProblems,
): JobSettings {
  if (engine === 'agenda' && mongoUrl === undefined)
    problems.add('JOBS_ENGINE', 'JOBS_ENGINE is agenda, which requires MONGO_URL.');
  return {
    ...settings,
    ...(engine === 'local' || mongoUrl === undefined ? {} : { agendaUrl: mongoUrl }),
    ...(engine === 'agenda' ? { requiresAgenda: true } : {}),
  };
}
