/**
 * A chat in the terminal, with a tool that answers at once and one that works in the background. Needs a vendor's key,
 * such as ANTHROPIC_API_KEY.
 *
 * npm run example:agent -- [message …]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { agent } from '../imports/library/Agent';
import { tool } from '../imports/library/tool';

const getWeather = tool({
  name: 'get_weather',
  description: 'Returns the weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'clear', celsius: 21 }),
});

const research = tool({
  name: 'research_topic',
  description: 'Researches a topic in the background.',
  parameters: z.object({ topic: z.string() }),
  blocking: false,
  execute: async ({ topic }, { signal, progress }) => {
    for (let step = 1; step <= 3; step += 1) {
      await delay(200, undefined, { signal });
      progress(step / 3);
    }
    return { topic, sources: 12 };
  },
});

async function main(messages: readonly string[]): Promise<void> {
  const chat = agent({ instructions: 'Be brief.', tools: [getWeather, research] }).conversation();
  for (const message of messages) {
    console.log(`> ${message}`);
    const run = chat.stream(message);
    const stop = (): void => void run.cancel();
    process.once('SIGINT', stop);
    for await (const event of run) {
      if (event.type === 'llm:delta' && event.kind === 'text') process.stdout.write(event.delta);
      if (event.type === 'tool:completed') console.log(`\n[${event.name}: ${event.result}]`);
    }
    process.off('SIGINT', stop);
    console.log(`\n(${(await run.usage).total_tokens} tokens)`);
  }
}

const given = process.argv.slice(2);
main(given.length > 0 ? given : ['What is the weather in Lisbon?', 'Research the topic tiny boats.']).catch(
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
