/** The tables of the configuration reference, from those of settings. What is between them stays as it is. */
import { METEOR, settingsIn } from '../../imports/host/settings/defineSettings';
import type { SettingsTable } from '../../imports/host/settings/defineSettings';
import { SETTING_TABLES } from '../../imports/host/settings/settingTables';

const TABLE = /^(\| (?:variable|field) \| default \| meaning \|\n.*\n)(?:\|.*\n)*/m;

/** @param page docs/reference/configuration.md, in which each of the sections has one such table */
export function configurationReference(page: string): string {
  return page
    .split(/^(?=## )/m)
    .map((section) => {
      const tables = SETTING_TABLES[/^## (.+)/.exec(section)?.[1] ?? ''];
      return tables === undefined
        ? section
        : section.replace(TABLE, (_, head: string) => head + tables.map(rowsOf).join(''));
    })
    .join('');
}

function rowsOf(table: SettingsTable): string {
  return settingsIn(table)
    .map(({ name, default: value, meaning }) => `| \`${name.replace(METEOR, '')}\` | ${value} | ${meaning} |\n`)
    .join('');
}
