/** Turns errors of the operating system into a reason and a remedy for operators. */

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied (EACCES). Give the user of this process access to it, or choose another path',
  EPERM: 'permission denied (EPERM). Give the user of this process access to it, or choose another path',
  ENOENT: 'no such file or folder (ENOENT). Create the folder, or correct the path',
  ENOTDIR: 'a part of the path is a file, not a folder (ENOTDIR). Correct the path',
  EEXIST: 'a file or folder of this name already exists (EEXIST). Choose another path',
  EISDIR: 'it is a folder (EISDIR). Name a file',
  ENOTEMPTY: 'it is a folder with files in it (ENOTEMPTY). Choose another path',
  ELOOP: 'its symbolic links form a loop (ELOOP). Correct the path',
  ENAMETOOLONG: 'the name is too long (ENAMETOOLONG). Choose a shorter one',
  EROFS: 'the file system is read-only (EROFS). Choose another path',
  ENOSPC: 'the disk is full (ENOSPC). Free some space and run it again',
  EDQUOT: 'the disk quota is used up (EDQUOT). Free some space and run it again',
  EMFILE: 'too many files are open (EMFILE). Raise the limit of open files (ulimit -n)',
  ENFILE: 'too many files are open on this machine (ENFILE). Raise its limit of open files',
  EIO: 'the disk reported an error (EIO). Check its health before you run it again',
  EBUSY: 'another process is using it (EBUSY). Stop that process first',
};

/** Whether it is an error of the operating system that has a text here. */
export function isSystemError(error: unknown): boolean {
  return Object.hasOwn(reasons, String((error as NodeJS.ErrnoException)?.code));
}

const diskCodes = [
  'EIO',
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EFBIG',
  'ENXIO',
  'ENODEV',
  'ESTALE',
  'EMFILE',
  'ENFILE',
];

/** Whether the disk or the limit of open files caused it, and not the request or a defect. */
export function isDiskError(error: unknown): boolean {
  return diskCodes.includes(String((error as NodeJS.ErrnoException)?.code));
}

/** The reason and the remedy, without a full stop at the end. For unknown errors it is their message. */
export function toReason(error: unknown): string {
  const { code = '', message = String(error) } = (error ?? {}) as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}

/** Why a file that was named cannot be read, as a sentence. */
export function unreadableText(file: string, error: unknown): string {
  const isMissing = (error as NodeJS.ErrnoException)?.code === 'ENOENT';
  return `${file} cannot be read: ${isMissing ? 'there is no such file (ENOENT). Correct the path' : toReason(error)}.`;
}

/** `toReason` as a sentence that names the path. */
export function systemErrorText(error: unknown): string {
  const { path } = (error ?? {}) as NodeJS.ErrnoException;
  const subject = path === undefined ? '' : `${path} cannot be used: `;
  return isSystemError(error) ? `${subject}${toReason(error)}.` : toReason(error);
}

/** Why a server cannot listen, and what to do. null for other errors. */
export function listenErrorText(error: unknown, host: string, port: number): string | null {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use by another program. Choose another port with --port or CURD_PORT.`;
    case 'EACCES':
      return `Port ${port} is reserved for privileged users. Choose a port from 1024 on with --port or CURD_PORT, and use a reverse proxy.`;
    case 'EADDRNOTAVAIL':
      return `This machine does not have the IP address ${host}. Choose one that it has with --host or CURD_HOST, such as 127.0.0.1, or 0.0.0.0 for all.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host name ${host} cannot be resolved. Choose another with --host or CURD_HOST, such as 127.0.0.1, or 0.0.0.0 for all.`;
    default:
      return null;
  }
}
