/**
 * A batch import: turns lines of free text into typed records, several at once, with a progress bar. Lines that can't
 * be read are listed at the end and don't stop the import.
 *
 * npm run example:import -- [number of lines]
 */
import { z } from 'zod';
import { LLMClient } from '../imports/business/ai/application/services/LLMClient';
import { isLLMError } from '../imports/business/ai/domain/errors/LLMErrors';
import { moduleFromEnvironment } from '../imports/host/moduleFromEnvironment';
import { SIMULATION_NOTICE } from '../imports/host/simulation';
import { ProgressBar } from './ProgressBar';

/** The schema of a line's product. Requires that the line contains the price, so that no invented one is imported. */
function productSchema(line: string) {
  const price = z.number().refine((value) => line.includes(value.toFixed(2)), 'must appear in the line');
  return z.object({ price, name: z.string(), city: z.string() });
}

/** Sample data. Every ninth price lacks its decimal point and can't be read. */
function readLines(count: number): readonly string[] {
  const goods = ['kettle', 'lamp', 'chair', 'clock'];
  const cities = ['Lisbon', 'Oslo', 'Rome'];
  return Array.from({ length: count }, (_, index) => {
    const price = `${10 + index}${index % 9 === 8 ? '' : '.'}50`;
    return `${price} euros for a ${goods[index % goods.length] ?? ''} from ${cities[index % cities.length] ?? ''}`;
  });
}

async function main(): Promise<void> {
  const { module, simulator } = await moduleFromEnvironment(process.env);
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const client = new LLMClient({
    provider: module.manager,
    userId: 'import',
    model: module.settings.defaultProvider ?? '',
  });
  // Ctrl-C stops the batch, and the results so far are still printed.
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  try {
    const lines = readLines(Number(process.argv[2] ?? 24));
    const bar = new ProgressBar();
    const results = await client.createBatch(
      lines.map((line) => ({
        instructions: 'Read the product from the line.',
        input: line,
        schema: productSchema(line),
      })),
      { concurrency: 6, signal: controller.signal, onProgress: (done, total) => bar.update(done, total) },
    );
    // Results are in the order of the lines.
    const products = results.flatMap((result) => (isLLMError(result) ? [] : [result.value]));
    const total = products.reduce((sum, { price }) => sum + price, 0);
    console.log(
      `${products.length} of ${lines.length} products read, worth ${total.toFixed(2)} euros; the first: ${JSON.stringify(products[0])}`,
    );
    for (const [index, result] of results.entries()) {
      if (isLLMError(result)) console.log(`line ${index + 1} was not read: ${result.code}: ${result.message}`);
    }
  } finally {
    await simulator?.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
