/**
 * Gives the page its icons. They are not links in `client/main.html`, because Meteor does not put the path of ROOT_URL
 * before the addresses in it.
 */

/** @param directory the path of the files, which ends with a slash */
export function loadIcons(directory: string): void {
  addIcon(`${directory}favicon.ico`, { sizes: '48x48' });
  addIcon(`${directory}favicon.svg`, { sizes: 'any', type: 'image/svg+xml' });
}

function addIcon(href: string, { sizes, type = '' }: { readonly sizes: string; readonly type?: string }): void {
  const link = document.createElement('link');
  link.rel = 'icon';
  link.setAttribute('sizes', sizes);
  if (type !== '') link.type = type;
  link.href = href;
  document.head.append(link);
}
