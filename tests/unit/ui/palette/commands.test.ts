import { expect } from 'chai';
import { matchCommands } from '../../../../imports/ui/palette/commands';
import type { Command } from '../../../../imports/ui/palette/commands';

describe('matchCommands', () => {
  const command = (label: string, keywords = ''): Command => ({
    id: label,
    label,
    keywords,
    icon: 'runs',
    group: 'Pages',
    run: () => undefined,
  });
  const commands = [command('Overview'), command('New run', 'start'), command('Runs'), command('Theme: dark', 'color')];
  const labels = (text: string): readonly string[] => matchCommands(commands, text).map(({ label }) => label);

  it('finds commands that contain every word, in the label or the keywords', () => {
    expect(labels('run')).to.deep.equal(['Runs', 'New run']);
    expect(labels('run start')).to.deep.equal(['New run']);
    expect(labels(' DARK  theme ')).to.deep.equal(['Theme: dark']);
    expect(labels('color')).to.deep.equal(['Theme: dark']);
    expect(labels('nothing')).to.deep.equal([]);
  });

  it('lists all commands in their order without a text', () => {
    expect(labels('')).to.deep.equal(commands.map(({ label }) => label));
  });
});
