"""The words that lab pages are made of, by charset. Nothing is downloaded and nothing is anybody's text."""

ENGLISH: tuple[str, ...] = tuple(
    """ability account across action address agree almost along amber anchor animal answer apple april archive arrow
    autumn avenue balance basket battery beacon because before behind bell bicycle bird blanket board boat border bottle
    branch bread breeze bridge bright bronze brook brush bucket building butter button cabin candle canvas carbon carpet
    castle cattle cedar cellar chain chair chalk chapter cherry circle citizen city clay clear cliff clock cloud coast
    coffee colour common copper corner cotton council country course cradle crane cream creek cross crystal current
    daily dance dawn december desert design desk detail diamond distance doctor dollar door dragon drawer dream dust
    eagle early earth east echo edge effort eight elbow engine evening example exit fabric factory falcon family farmer
    feather fence fiddle field figure finger fire flame flower forest forge fountain fresh friend frost fruit garden
    garlic gate gentle ginger glass globe gold grain granite grass gravel green harbour harvest hazel heart hedge herald
    hill hollow honey horizon horse house hundred iron island ivory jacket january journey judge kettle kitchen ladder
    lake lamp lantern laurel lawn leaf leather lemon letter level light linen lion little lobby magnet maple marble
    market meadow measure melody metal middle mill mirror mist moon morning moss mountain museum narrow needle nickel
    north notebook number oak ocean office olive onion orange orchard organ oyster packet paddle palace paper parcel
    path pebble pencil pepper piano pillar pine planet plaster pocket pond poplar powder present quarry quarter quiet
    rabbit rain raven record reed ribbon ridge ring river road robin roof rope rose rust saddle sail salt sand school
    season second shade shell shore silver slate smoke snow south spring square stable station steel stone storm stream
    street summer sunday table tailor temple thread timber tower train travel tunnel valley velvet village violet
    voice wagon walnut water weather west wheat wheel willow window winter wood yard year yellow zebra zinc""".split()  # noqa: SIM905  (quoted one by one they take 400 lines)
)

LOCAL: dict[str, tuple[str, ...]] = {
    "utf-8": ("naïve", "smörgåsbord", "Ελλάδα", "мост", "橋", "🌉", "Zürich", "façade"),
    "windows-1252": ("été", "déjà", "œuvre", "garçon", "Übergröße", "“cité”", "façade", "20 €"),
    "iso-8859-2": ("źródło", "łąka", "święto", "mosty", "ćma", "żaba", "książka", "wąż"),
    "koi8-r": ("мост", "река", "город", "слово", "страница", "ссылка", "зима", "лес"),
    "shift_jis": ("橋", "川", "東京", "検索", "日本語", "ページ", "言葉", "冬"),
}
LANGUAGE: dict[str, str] = {
    "utf-8": "en",
    "windows-1252": "fr",
    "iso-8859-2": "pl",
    "koi8-r": "ru",
    "shift_jis": "ja",
}
