/** Headless Chromium for tests: BOLIDE_CHROMIUM names it, or it is where Debian puts it. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const EXECUTABLE = process.env['BOLIDE_CHROMIUM'] ?? '/usr/bin/chromium';

/** Undefined where there is none, which is an error in CI: a suite that skips itself there proves nothing. */
export async function openBrowser(): Promise<Browser | undefined> {
  if (existsSync(EXECUTABLE))
    return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const message = `there is no browser at ${EXECUTABLE}; BOLIDE_CHROMIUM names another`;
  if (process.env['CI'] !== undefined) throw new Error(message);
  console.warn(`      skipped: ${message}`);
  return undefined;
}
