/**
 * A few harmless tools for the terminal, the playground and first steps: two blocking ones, one that requires approval,
 * one that runs in the background, one that takes long enough to be cancelled, and one whose result a person submits.
 */
import type { ToolRegistry } from '../business/ai/infrastructure/tools/ToolRegistry';

export function registerDemoTools(tools: ToolRegistry): ToolRegistry {
  return tools
    .register({
      name: 'get_weather',
      description: 'The weather in a city, made up from its name.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string', description: 'A city, such as Lisbon.' } },
        required: ['city'],
        additionalProperties: false,
      },
      execute: ({ city }: { city: string }) => weatherOf(city),
      idempotent: true,
    })
    .register({
      name: 'get_time',
      description: 'The date and time now, in a time zone.',
      parameters: {
        type: 'object',
        properties: { timezone: { type: 'string', description: 'An IANA name, such as Europe/Lisbon.' } },
        additionalProperties: false,
      },
      execute: ({ timezone = 'UTC' }: { timezone?: string }) =>
        new Date().toLocaleString('en-GB', { timeZone: timezone, timeZoneName: 'short' }),
      idempotent: true,
    })
    .register({
      name: 'research_topic',
      description: 'Looks into a topic in the background; takes a few seconds, the result follows.',
      parameters: {
        type: 'object',
        properties: { topic: { type: 'string' } },
        required: ['topic'],
        additionalProperties: false,
      },
      blocking: false,
      idempotent: true,
      execute: async ({ topic }: { topic: string }, { signal, progress }) => {
        for (let step = 1; step <= 4; step += 1) {
          await pause(500, signal);
          progress(step / 4, `step ${step} of 4`);
        }
        return {
          topic,
          findings: [`'${topic}' has ${topic.length} characters`, `it has ${topic.trim().split(/\s+/).length} word(s)`],
        };
      },
    })
    .register({
      name: 'send_reminder',
      description: 'Notes a reminder for the user. Asks for approval first.',
      parameters: {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
        additionalProperties: false,
      },
      needsApproval: true,
      execute: ({ text }: { text: string }) => ({ noted: text }),
    })
    .register({
      name: 'render_video',
      description: 'Renders a short video in the background; takes as long as the video is.',
      parameters: {
        type: 'object',
        properties: { scene: { type: 'string' }, seconds: { type: 'integer', minimum: 1, maximum: 600 } },
        required: ['scene', 'seconds'],
        additionalProperties: false,
      },
      blocking: false,
      timeout: 720_000,
      execute: async ({ scene, seconds }: { scene: string; seconds: number }, { signal, progress }) => {
        const frames = seconds * 4;
        for (let frame = 1; frame <= frames; frame += 1) {
          await pause(250, signal);
          progress(frame / frames, `frame ${frame} of ${frames}`);
        }
        return { scene, frames };
      },
    })
    .register({
      name: 'consult_expert',
      description: 'Puts a question to a person, whose answer follows.',
      parameters: {
        type: 'object',
        properties: { question: { type: 'string' } },
        required: ['question'],
        additionalProperties: false,
      },
      blocking: false,
      kind: 'external',
    });
}

const SKIES = ['sunny', 'cloudy', 'rainy', 'windy', 'foggy'] as const;

function weatherOf(city: string): { city: string; sky: string; celsius: number } {
  const sum = Array.from(city.toLowerCase()).reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0);
  return { city, sky: SKIES[sum % SKIES.length] ?? SKIES[0], celsius: 5 + (sum % 25) };
}

/** @throws the signal's reason */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
