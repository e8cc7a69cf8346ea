/** Headless Chromium for tests, at the path in BOLIDE_CHROMIUM or where Debian installs it. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const EXECUTABLE = process.env['BOLIDE_CHROMIUM'] ?? '/usr/bin/chromium';

/** @returns undefined without a browser. @throws in CI, where a skipped suite would prove nothing */
export async function openBrowser(): Promise<Browser | undefined> {
  if (existsSync(EXECUTABLE))
    return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const message = `No browser at ${EXECUTABLE}. Set BOLIDE_CHROMIUM to its path.`;
  if (process.env['CI'] !== undefined) throw new Error(message);
  console.warn(`      skipped: ${message}`);
  return undefined;
}
