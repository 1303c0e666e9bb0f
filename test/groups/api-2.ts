import { runAreas } from '../groups.ts';

runAreas(['api'], 2, 2);
