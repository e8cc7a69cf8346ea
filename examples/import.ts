/**
 * A batch import: free text becomes typed records, many at once, with a progress bar. What could not be read is listed at the end and
 * stops nothing.
 *
 * npx tsx examples/import.ts [how many lines]
 */
import { z } from 'zod';
import { LLMClient } from '../imports/business/ai/application/services/LLMClient';
import { isLLMError } from '../imports/business/ai/domain/errors/LLMErrors';
import { moduleFromEnvironment, SIMULATION_NOTICE } from '../server/moduleFromEnvironment';

const Product = z.object({ name: z.string(), price: z.number().nonnegative(), city: z.string() });

function lines(count: number): readonly string[] {
  const goods = ['kettle', 'lamp', 'chair', 'clock'];
  const cities = ['Lisbon', 'Oslo', 'Rome'];
  return Array.from({ length: count }, (_, index) => `${goods[index % goods.length] ?? ''} no. ${index + 1}, ${10 + index}.50 euros, from ${cities[index % cities.length] ?? ''}`);
}

async function main(): Promise<void> {
  const { module, simulator } = await moduleFromEnvironment(process.env);
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const client = new LLMClient({ provider: module.manager, userId: 'import', model: module.settings.defaultProvider ?? '' });
  // Ctrl-C ends the batch, not the program: what was read so far is still told.
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  try {
    const texts = lines(Number(process.argv[2] ?? 24));
    const results = await client.createBatch(
      texts.map((text) => ({ instructions: 'Read the product from the line.', input: text, schema: Product })),
      { concurrency: 6, signal: controller.signal, onProgress: showProgress },
    );
    const failed = results.flatMap((result, index) => (isLLMError(result) ? [`${texts[index] ?? ''}: ${result.code}`] : []));
    const products = results.flatMap((result) => (isLLMError(result) ? [] : [result.value]));
    const sum = products.reduce((total, { price }) => total + price, 0);
    console.log(`${products.length} of ${texts.length} products read, worth ${sum.toFixed(2)} euros; the first: ${JSON.stringify(products[0])}`);
    for (const line of failed) console.log(`not read: ${line}`);
  } finally {
    await simulator?.close();
  }
}

const WIDTH = 30;

function showProgress(done: number, total: number): void {
  const filled = Math.round((done / total) * WIDTH);
  process.stderr.write(`\r[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done}/${total}${done === total ? '\n' : ''}`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
